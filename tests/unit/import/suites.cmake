th_suite(import th::anim PkgConfig::ASSIMP Threads::Threads NEEDS throng-import
    WITH fixture_folder fixture_gltf fixture_import)
target_sources(test_import PRIVATE ${CMAKE_CURRENT_LIST_DIR}/oracle_assimp.c)
# Small files, and what is read of each: tests/golden/models.
th_suite(import_models th::anim NEEDS throng-import WITH fixture_document fixture_gltf fixture_import)
th_suite(import_gltf th::anim NEEDS throng-import WITH fixture_folder fixture_gltf fixture_import)
target_compile_definitions(test_import_gltf PRIVATE $<TARGET_PROPERTY:throng-import,COMPILE_DEFINITIONS>)
th_suite(import_fbx th::anim NEEDS throng-import WITH fixture_gltf fixture_import)
th_suite(import_hostile th::anim NEEDS throng-import WITH fixture_folder fixture_gltf fixture_import)
th_suite(import_morph th::anim NEEDS throng-import WITH fixture_folder fixture_gltf fixture_import)
th_suite(import_outside th::anim NEEDS throng-import WITH fixture_folder fixture_gltf fixture_import)

# throng-import, taken over by its input.
add_executable(hostile_importer ${CMAKE_CURRENT_LIST_DIR}/hostile_importer.c $<TARGET_OBJECTS:throng-import>)
th_share(hostile_importer fixture_attack)
target_link_libraries(hostile_importer PRIVATE th_inside $<TARGET_PROPERTY:throng-import,LINK_LIBRARIES>)
th_wrap(hostile_importer aiImportFileExWithProperties)
th_suite(import_sandbox th::anim PkgConfig::SECCOMP NEEDS hostile_importer throng-import
    WITH fixture_attack fixture_folder fixture_gltf fixture_import)
target_compile_definitions(test_import_sandbox PRIVATE TEST_HOSTILE_IMPORTER="$<TARGET_FILE:hostile_importer>")
