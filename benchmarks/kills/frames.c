/* The native method of Frames in Burst.java: it allocates memory that nothing frees, as a decoder of pictures would. */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

/* Without this variable the compiler would leave the allocation out. */
static void *volatile latest;

JNIEXPORT void JNICALL Java_Frames_decode(JNIEnv *env, jclass type, jint bytes) {
  (void)env, (void)type;
  latest = malloc((size_t)bytes);
  if (latest) memset(latest, 1, (size_t)bytes);
}
