#ifndef R_VERSION
#define R_Version(v, p, s) (((v) * 65536) + ((p) * 256) + (s))
#define R_VERSION R_Version(4, R_API_MINOR, 0)
#endif
