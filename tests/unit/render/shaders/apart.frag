layout(location = 0) out vec4 colour;

vec4 elsewhere();

void main()
{
    colour = elsewhere();
}
