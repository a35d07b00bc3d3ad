/* The section "Re-encoding" of the manual. */
#ifndef R_API_RICONV_H
#define R_API_RICONV_H

void *Riconv_open(const char *tocode, const char *fromcode);
size_t Riconv(void *cd, const char **inbuf, size_t *inbytesleft, char **outbuf, size_t *outbytesleft);
int Riconv_close(void *cd);

#endif
