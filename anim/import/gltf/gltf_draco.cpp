/* Draco has an interface for C++ only. */
#include "gltf_draco.h"

#ifdef TH_HAVE_DRACO
#include <draco/compression/decode.h>
#include <exception>
#include <memory>

struct gltf_draco {
    std::unique_ptr<draco::Mesh> mesh;
};

gltf_draco *gltf_draco_decode(const uint8_t *bytes, size_t size)
try {
    draco::DecoderBuffer buffer;
    buffer.Init(reinterpret_cast<const char *>(bytes), size);
    draco::Decoder decoder;
    auto mesh = decoder.DecodeMeshFromBuffer(&buffer);
    return mesh.ok() ? new gltf_draco{std::move(mesh).value()} : nullptr;
} catch (const std::exception &) {
    return nullptr;
}

size_t gltf_draco_vertices(const gltf_draco *d)
{
    return d->mesh->num_points();
}

size_t gltf_draco_triangles(const gltf_draco *d)
{
    return d->mesh->num_faces();
}

void gltf_draco_indices(const gltf_draco *d, uint32_t *out)
{
    for (draco::FaceIndex f(0); f < d->mesh->num_faces(); ++f)
        for (int i = 0; i < 3; i++)
            *out++ = d->mesh->face(f)[static_cast<size_t>(i)].value();
}

uint32_t gltf_draco_width(const gltf_draco *d, uint32_t attribute)
{
    const draco::PointAttribute *a = d->mesh->GetAttributeByUniqueId(attribute);
    /* glTF has no truth values, and a byte of a damaged file that is neither must not be read as one. */
    return a && a->data_type() != draco::DT_BOOL ? static_cast<uint32_t>(a->num_components()) : 0;
}

template <typename number> static bool convert(const draco::Mesh &mesh, const draco::PointAttribute *a, number *out)
{
    const int width = a->num_components();
    for (draco::PointIndex p(0); p < mesh.num_points(); ++p, out += width) {
        const draco::AttributeValueIndex value = a->mapped_index(p);
        if (value.value() >= a->size() || !a->ConvertValue<number>(value, static_cast<int8_t>(width), out))
            return false;
    }
    return true;
}

bool gltf_draco_floats(const gltf_draco *d, uint32_t attribute, bool normalized, float *out)
{
    draco::PointAttribute *a = d->mesh->attribute(d->mesh->GetAttributeIdByUniqueId(attribute));
    a->set_normalized(normalized); /* encoders do not all say so */
    return convert(*d->mesh, a, out);
}

bool gltf_draco_integers(const gltf_draco *d, uint32_t attribute, uint32_t *out)
{
    return convert(*d->mesh, d->mesh->GetAttributeByUniqueId(attribute), out);
}
#endif
