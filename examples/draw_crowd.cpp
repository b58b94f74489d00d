// draw_crowd [MODEL [FRAMES]]: the crowd of pose_crowd in somebody else's OpenGL 4.3 loop. The program owns the window,
// the shaders and the meshes; Throng's workers write bone palettes straight into a mapped shader storage buffer, where
// the vertex shader finds a character's by gl_InstanceID. Ends after FRAMES frames, or when the window is closed.
#define GL_GLEXT_PROTOTYPES
#define GLFW_INCLUDE_GLEXT
#include <GLFW/glfw3.h>

#include <throng/throng.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

static const char *const vertex_shader = R"(#version 430
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in uvec4 bone;
layout(location = 3) in vec4 weight;
layout(std430, binding = 0) readonly buffer palettes { vec4 rows[]; }; // three to a bone
uniform uint rows_per_character;
uniform int side;
out vec3 shade_normal;

void main()
{
    vec4 r0 = vec4(0), r1 = vec4(0), r2 = vec4(0);
    for (int i = 0; i < 4; i++) {
        uint at = uint(gl_InstanceID) * rows_per_character + 3 * bone[i];
        r0 += weight[i] * rows[at];
        r1 += weight[i] * rows[at + 1];
        r2 += weight[i] * rows[at + 2];
    }
    vec4 p = vec4(position, 1);
    vec3 world = vec3(dot(r0, p), dot(r1, p), dot(r2, p));
    world += vec3(gl_InstanceID % side - side / 2, 0, -gl_InstanceID / side) * 1.2;
    shade_normal = vec3(dot(r0.xyz, normal), dot(r1.xyz, normal), dot(r2.xyz, normal));
    vec3 seen = world - vec3(0, 2.5, 6); // a camera that looks down a little
    vec3 turned = vec3(seen.x, 0.95 * seen.y - 0.3 * seen.z, 0.3 * seen.y + 0.95 * seen.z);
    gl_Position = vec4(1.2 * turned.x, 1.6 * turned.y, -1.002 * turned.z - 0.2, -turned.z);
})";

static const char *const fragment_shader = R"(#version 430
in vec3 shade_normal;
out vec4 color;
void main() { color = vec4(vec3(0.25 + 0.6 * max(0, dot(normalize(shade_normal), vec3(0.4, 0.8, 0.45)))), 1); })";

static void check(th_result result, const th_error &err)
{
    if (result == TH_OK)
        return;
    std::fprintf(stderr, "draw_crowd: %s\n", err.text);
    std::exit(4);
}

static GLuint compile(GLenum stage, const char *text)
{
    GLuint shader = glCreateShader(stage);
    glShaderSource(shader, 1, &text, nullptr);
    glCompileShader(shader);
    return shader;
}

static void attribute(GLuint index, GLint count, GLenum type, std::size_t offset)
{
    const void *at = reinterpret_cast<const void *>(offset);
    glEnableVertexAttribArray(index);
    if (type == GL_UNSIGNED_SHORT)
        glVertexAttribIPointer(index, count, type, sizeof(th_vertex), at);
    else
        glVertexAttribPointer(index, count, type, GL_FALSE, sizeof(th_vertex), at);
}

int main(int argc, char **argv)
{
    if (!glfwInit())
        return 4;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    GLFWwindow *window = glfwCreateWindow(960, 540, "draw_crowd", nullptr, nullptr);
    if (!window)
        return 4;
    glfwMakeContextCurrent(window);

    th_error err;
    th_model *model = nullptr;
    th_import_desc file{};
    file.path = argv[1];
    check(argc > 1 ? th_import(&file, &model, &err) : th_human_create(&model, &err), err);
    th_compiled_model_desc compiled_desc{};
    compiled_desc.model = model;
    th_compiled_model *compiled = nullptr;
    check(th_compiled_model_create(&compiled_desc, &compiled, &err), err);
    const th_compiled_model *compiled_models[] = {compiled};

    const int side = 16;
    th_crowd_desc crowd_desc{};
    crowd_desc.compiled_models = compiled_models;
    crowd_desc.compiled_model_count = 1;
    crowd_desc.capacity = side * side;
    th_crowd *crowd = nullptr;
    check(th_crowd_create(&crowd_desc, &crowd, &err), err);
    check(th_crowd_scatter(crowd, side * side, TH_NO_INDEX, 1, &err), err);
    th_jobs_desc jobs_desc{};
    th_jobs *jobs = nullptr;
    check(th_jobs_create(&jobs_desc, &jobs, &err), err);
    th_frame_desc frame_desc{};
    frame_desc.crowd = crowd;
    frame_desc.jobs = jobs;
    th_frame *frame = nullptr;
    check(th_frame_create(&frame_desc, &frame, &err), err);

    GLuint program = glCreateProgram();
    glAttachShader(program, compile(GL_VERTEX_SHADER, vertex_shader));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER, fragment_shader));
    glLinkProgram(program);
    glUseProgram(program);
    glUniform1i(glGetUniformLocation(program, "side"), side);
    glUniform1ui(glGetUniformLocation(program, "rows_per_character"),
                 static_cast<GLuint>(th_crowd_palettes(crowd, 0).stride / 16));

    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
    std::vector<GLuint> arrays(model->mesh_count);
    glGenVertexArrays(static_cast<GLsizei>(model->mesh_count), arrays.data());
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const th_mesh &mesh = model->meshes[m];
        GLuint data[2];
        glBindVertexArray(arrays[m]);
        glGenBuffers(2, data);
        glBindBuffer(GL_ARRAY_BUFFER, data[0]);
        glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(mesh.vertex_count * sizeof(th_vertex)), mesh.vertices,
                     GL_STATIC_DRAW);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, data[1]);
        glBufferData(GL_ELEMENT_ARRAY_BUFFER, static_cast<GLsizeiptr>(mesh.index_count * 4), mesh.indices,
                     GL_STATIC_DRAW);
        attribute(0, 3, GL_FLOAT, offsetof(th_vertex, position));
        attribute(1, 3, GL_FLOAT, offsetof(th_vertex, normal));
        attribute(2, 4, GL_UNSIGNED_SHORT, offsetof(th_vertex, bone));
        attribute(3, 4, GL_FLOAT, offsetof(th_vertex, weight));
    }

    const auto bytes = static_cast<GLsizeiptr>(th_crowd_palette_bytes(crowd));
    const long frames = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 0;
    std::vector<unsigned char> middle(3 * 64 * 64);
    for (long f = 0; !glfwWindowShouldClose(window) && (frames == 0 || f < frames); f++) {
        // A new store each frame, so that the driver need not wait for the draws of the last one. It begins on a line
        // of 64 bytes, as palettes must: OpenGL promises that of mapped memory.
        glBufferData(GL_SHADER_STORAGE_BUFFER, bytes, nullptr, GL_STREAM_DRAW);
        void *palettes = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, bytes, GL_MAP_WRITE_BIT);
        if (!palettes)
            return 4;
        th_frame_run(frame, glfwGetTime(), palettes);
        glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);

        int width, height;
        glfwGetFramebufferSize(window, &width, &height);
        glViewport(0, 0, width, height);
        glEnable(GL_DEPTH_TEST);
        glClearColor(0.7f, 0.8f, 0.9f, 1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        for (uint32_t m = 0; m < model->mesh_count; m++) {
            glBindVertexArray(arrays[m]);
            glDrawElementsInstanced(GL_TRIANGLES, static_cast<GLsizei>(model->meshes[m].index_count), GL_UNSIGNED_INT,
                                    nullptr, side * side);
        }
        glReadPixels(width / 2 - 32, height / 2 - 32, 64, 64, GL_RGB, GL_UNSIGNED_BYTE, middle.data());
        glfwSwapBuffers(window);
        glfwPollEvents();
    }

    int drawn = 0; // of the picture's middle, what is not sky
    for (std::size_t i = 0; i < middle.size(); i += 3)
        drawn += middle[i] < 170;
    std::printf("%d characters, %u threads, %d of 4096 pixels in the middle are theirs\n", side * side,
                th_jobs_threads(jobs), drawn);

    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    th_model_destroy(model);
    glfwTerminate();
    return drawn > 0 ? 0 : 1;
}
