#define attribute_visible
#define attribute_hidden
