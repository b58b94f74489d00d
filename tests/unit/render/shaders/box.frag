layout(location = 0) out vec4 colour;

void main()
{
    colour = COLOUR; // "ä", 100 %, a \ and a '
}
