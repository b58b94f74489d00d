/* Files that a model names outside of its folder: nothing of them comes in, and the name is said. */
#include "fixture_folder.h"
#include "fixture_import.h"

#include <anim/archive.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In all that a model can take of the file: a texture's bytes, the numbers of a buffer, the texture of a material. */
#define STOLEN "STOLEN-BY-A-MODEL"

static char secret[128], url[144], models[128];

static const char *in_models(const char *name)
{
    static char name_of[192];
    snprintf(name_of, sizeof name_of, "%s/%s", models, name);
    return name_of;
}

static void set_up(void)
{
    make_folder();
    snprintf(models, sizeof models, "%s/models", folder);
    snprintf(secret, sizeof secret, "%s/secret.mtl", folder);
    snprintf(url, sizeof url, "file://%s", secret);
    mkdir(models, 0700);
    mkdir(in_models("sub"), 0700);
    write_text(secret, "newmtl paint\nKd 1 0 0\nmap_Kd " STOLEN ".png\n");
    cr_assert_eq(symlink("../secret.mtl", in_models("secret-link.mtl")), 0);
    cr_assert_eq(symlink("../..", in_models("sub/up")), 0);
}

TestSuite(import_outside, .init = set_up, .fini = remove_all);

/* ---- files of each format that name one ---- */

#define GLTF_TRIANGLE(buffer, more)                                                                                    \
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"              \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"material\":0}]}],\"accessors\":[{"                \
    "\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,"          \
    "\"byteLength\":36}],\"buffers\":[{\"byteLength\":36,\"uri\":\"" buffer "\"}],\"materials\":["                     \
    "{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}}}],\"textures\":[{\"source\":0}],"                  \
    "\"images\":[{\"uri\":\"" more "\"}]}"
#define ZEROS "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"

static const char gltf_buffer[] = GLTF_TRIANGLE("%s", ""), gltf_image[] = GLTF_TRIANGLE(ZEROS, "%s");
static const char obj_library[] = "mtllib %s\nusemtl paint\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n";
static const char obj_texture[] = "newmtl paint\nKd 1 1 1\nmap_Kd %s\n";
static const char fbx_texture[] =
    "; FBX 7.4.0 project file\nFBXHeaderExtension: {\n FBXHeaderVersion: 1003\n FBXVersion: 7400\n}\nObjects: {\n"
    " Geometry: 1, \"Geometry::g\", \"Mesh\" {\n  Vertices: *9 {\n   a: 0,0,0,1,0,0,0,1,0\n  }\n"
    "  PolygonVertexIndex: *3 {\n   a: 0,1,-3\n  }\n  GeometryVersion: 124\n  LayerElementMaterial: 0 {\n"
    "   MappingInformationType: \"AllSame\"\n   ReferenceInformationType: \"IndexToDirect\"\n   Materials: *1 {\n"
    "    a: 0\n   }\n  }\n  Layer: 0 {\n   LayerElement: {\n    Type: \"LayerElementMaterial\"\n    TypedIndex: 0\n"
    "   }\n  }\n }\n Model: 2, \"Model::m\", \"Mesh\" {\n  Version: 232\n }\n Material: 3, \"Material::paint\", \"\" "
    "{\n"
    "  ShadingModel: \"phong\"\n }\n Texture: 4, \"Texture::t\", \"\" {\n  Type: \"TextureVideoClip\"\n"
    "  FileName: \"%1$s\"\n  RelativeFilename: \"%1$s\"\n }\n Video: 5, \"Video::v\", \"Clip\" {\n  Type: \"Clip\"\n"
    "  FileName: \"%1$s\"\n  RelativeFilename: \"%1$s\"\n }\n}\nConnections: {\n C: \"OO\",2,0\n C: \"OO\",1,2\n"
    " C: \"OO\",3,2\n C: \"OP\",4,3, \"DiffuseColor\"\n C: \"OO\",5,4\n}\n";
static const char dae_image[] =
    "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">"
    "<asset><up_axis>Y_UP</up_axis></asset><library_images><image id=\"i\"><init_from>%s</init_from></image>"
    "</library_images><library_effects><effect id=\"e\"><profile_COMMON><newparam sid=\"s\"><surface type=\"2D\">"
    "<init_from>i</init_from></surface></newparam><newparam sid=\"p\"><sampler2D><source>s</source></sampler2D>"
    "</newparam><technique sid=\"t\"><lambert><diffuse><texture texture=\"p\" texcoord=\"u\"/></diffuse></lambert>"
    "</technique></profile_COMMON></effect></library_effects><library_materials><material id=\"paint\">"
    "<instance_effect url=\"#e\"/></material></library_materials><library_geometries><geometry id=\"g\"><mesh>"
    "<source id=\"v\"><float_array id=\"f\" count=\"9\">0 0 0 1 0 0 0 1 0</float_array><technique_common>"
    "<accessor source=\"#f\" count=\"3\" stride=\"3\"><param name=\"X\" type=\"float\"/><param name=\"Y\" "
    "type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source><vertices id=\"vs\">"
    "<input semantic=\"POSITION\" source=\"#v\"/></vertices><triangles count=\"1\" material=\"m\"><input "
    "semantic=\"VERTEX\" source=\"#vs\" offset=\"0\"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>"
    "<library_visual_scenes><visual_scene id=\"w\"><node><instance_geometry url=\"#g\"><bind_material>"
    "<technique_common><instance_material symbol=\"m\" target=\"#paint\"/></technique_common></bind_material>"
    "</instance_geometry></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url=\"#w\"/>"
    "</scene></COLLADA>";

typedef struct reference {
    const char *what, *format, *model;
    const char *named; /* the file that names it, where it is not the model */
    bool is_json, is_shape;
} reference;

static const reference references[] = {
    {"glTF buffer", gltf_buffer, "model.gltf", NULL, true, true},
    {"glTF image", gltf_image, "model.gltf", NULL, true, false},
    {"OBJ library", obj_library, "model.obj", NULL, false, false},
    {"OBJ texture", obj_texture, "model.obj", "model.mtl", false, false},
    {"FBX texture", fbx_texture, "model.fbx", NULL, false, false},
    {"Collada image", dae_image, "model.dae", NULL, false, false},
};

enum { REFERENCES = sizeof references / sizeof *references };

/* JSON wants backslashes twice. */
static void escape(char *out, const char *name, bool is_json)
{
    for (; *name; name++) {
        if (is_json && *name == '\\')
            *out++ = '\\';
        *out++ = *name;
    }
    *out = '\0';
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static void write_model(const reference *r, const char *name)
{
    char text[4096], escaped[256];
    escape(escaped, name, r->is_json);
    snprintf(text, sizeof text, r->format, escaped);
    write_text(in_models(r->named ? r->named : r->model), text);
    snprintf(text, sizeof text, obj_library, r->named);
    if (r->named)
        write_text(in_models(r->model), text);
}

#pragma GCC diagnostic pop

/* ---- what comes of it ---- */

static bool has_stolen(const th_model *model)
{
    size_t size;
    uint8_t *bytes = th_archive_write(model, &size);
    cr_assert(bytes);
    const bool found = memmem(bytes, size, STOLEN, strlen(STOLEN)) != NULL;
    free(bytes);
    return found;
}

/* part: of the name, which each format shows in its own way. */
static void check_refused(const reference *r, const char *name, const char *part)
{
    th_model *model;
    th_error err;
    write_model(r, name);
    const th_result result = import(in_models(r->model), &model, &err);
    if (r->is_shape) {
        cr_expect_eq(result, TH_ERR_INPUT, "%s %s: %d", r->what, name, (int)result);
        cr_expect(strstr(err.text, r->model) && strstr(err.text, name), "%s %s: %s", r->what, name, err.text);
        cr_expect(strstr(err.text, "outside of the model's folder"), "%s %s: %s", r->what, name, err.text);
        return;
    }
    cr_assert_eq(result, TH_OK, "%s %s: %s", r->what, name, err.text);
    cr_expect(!has_stolen(model), "%s %s", r->what, name);
    cr_expect(is_warned(model, part) && is_warned(model, "outside the model's folder"), "%s %s", r->what, name);
    th_model_destroy(model);
}

static void check_read(const reference *r, const char *name, bool allow_outside)
{
    th_model *model;
    th_error err;
    write_model(r, name);
    const th_import_desc desc = {
        .path = in_models(r->model), .importer = TEST_IMPORTER, .allow_outside = allow_outside};
    cr_assert_eq(th_import(&desc, &model, &err), TH_OK, "%s %s: %s", r->what, name, err.text);
    cr_expect(r->is_shape || has_stolen(model), "%s %s", r->what, name);
    cr_expect(!is_warned(model, "outside the model's folder"), "%s %s", r->what, name);
    th_model_destroy(model);
}

/* All that lead to the file on some system. glTF's buffers and images are shown each, others some of them by turns. */
Test(import_outside, names_that_lead_out_are_refused)
{
    const char *const names[] = {"../secret.mtl",
                                 "sub/../../secret.mtl",
                                 "%2e%2e%2fsecret.mtl",
                                 "..%2Fsecret.mtl",
                                 "..\\secret.mtl",
                                 "\\\\host\\share\\secret.mtl",
                                 "C:\\art\\secret.mtl",
                                 "secret-link.mtl",
                                 "sub/up/secret.mtl",
                                 secret,
                                 url,
                                 "/etc/passwd.mtl"};
    const int count = sizeof names / sizeof *names;
    for (int r = 0; r < REFERENCES; r++)
        for (int n = 0; n < count; n++)
            if (r < 2 || n % 3 == r % 3)
                check_refused(&references[r], names[n], n + 1 < count ? "secret" : "passwd");
}

Test(import_outside, names_that_lead_out_are_read_if_allowed)
{
    const char *const names[] = {"../secret.mtl", secret, "secret-link.mtl", "sub/../../secret.mtl"};
    for (int r = 0; r < REFERENCES; r++)
        for (int n = r % 2; n < 4; n += 2)
            check_read(&references[r], names[n], true);
}

Test(import_outside, names_that_stay_inside_are_read)
{
    static const char *const names[] = {"sub/inner.mtl", "sub/../sub/./inner.mtl", "inner-link.mtl"};
    cr_assert_eq(link(secret, in_models("sub/inner.mtl")), 0);
    cr_assert_eq(symlink("sub/inner.mtl", in_models("inner-link.mtl")), 0);
    for (int r = 0; r < REFERENCES; r++)
        for (int n = 0; n < 3; n++)
            if (n != r % 3)
                check_read(&references[r], names[n], false);
}

/* As exporters write them: paths of the machine that they ran on. */
Test(import_outside, textures_of_another_machine_are_found_beside_the_model)
{
    cr_assert_eq(link(secret, in_models("skin.mtl")), 0);
    for (int r = 0; r < REFERENCES; r++) {
        th_model *model;
        th_error err;
        if (references[r].is_shape)
            continue;
        write_model(&references[r], "C:\\Users\\artist\\skin.mtl");
        cr_assert_eq(import(in_models(references[r].model), &model, &err), TH_OK, "%s", err.text);
        cr_expect(has_stolen(model) || strcmp(references[r].what, "OBJ library") == 0, "%s", references[r].what);
        th_model_destroy(model);
    }
}

/* A model that is a link itself is what the user named, and has the folder of the link. */
Test(import_outside, models_may_be_links)
{
    char outside[192];
    write_model(&references[0], "sub/inner.mtl");
    cr_assert_eq(link(secret, in_models("sub/inner.mtl")), 0);
    snprintf(outside, sizeof outside, "%s/elsewhere.gltf", folder);
    cr_assert_eq(rename(in_models("model.gltf"), outside), 0);
    cr_assert_eq(symlink(outside, in_models("model.gltf")), 0);
    th_model_destroy(import_good(in_models("model.gltf")));
}

Test(import_outside, a_fifo_is_no_file)
{
    th_model *model;
    th_error err;
    cr_assert_eq(mkfifo(in_models("pipe"), 0600), 0);
    write_model(&references[0], "pipe");
    cr_expect_eq(import(in_models("model.gltf"), &model, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "could not open"), "%s", err.text);
}
