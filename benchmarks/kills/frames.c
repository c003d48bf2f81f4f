/* The native method of Frames in Burst.java: it allocates memory that nothing frees, as a decoder of pictures would. */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

JNIEXPORT void JNICALL Java_Frames_decode(JNIEnv *env, jclass type, jint bytes) {
  (void)env, (void)type;
  void *frame = malloc((size_t)bytes);
  if (frame) memset(frame, 1, (size_t)bytes);
}
