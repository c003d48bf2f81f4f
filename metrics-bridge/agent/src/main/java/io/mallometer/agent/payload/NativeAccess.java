package io.mallometer.agent.payload;

import java.lang.reflect.Method;

/**
 * Permits the payload's module to load native code, because JDK 24 and newer print a warning
 * otherwise. If the user has denied native access, it stays denied.
 */
final class NativeAccess {

  private static final String MODES = "jdk.internal.module.ModuleBootstrap";
  private static final String WARN = "WARN";

  private NativeAccess() {}

  /**
   * Permits this module native access if the JDK would otherwise print a warning. Uses packages of
   * the JDK that the agent has opened to this module.
   */
  static void allow() {
    Module own = NativeAccess.class.getModule();
    try {
      if (own.isNamed() && WARN.equals(mode())) {
        Method allow = Module.class.getDeclaredMethod("implAddEnableNativeAccess");
        allow.setAccessible(true);
        allow.invoke(own);
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      // The internals of this JDK differ, so the JDK prints its warning.
      return;
    }
  }

  /** Returns the value of {@code --illegal-native-access}: ALLOW, WARN or DENY. */
  private static String mode() throws ReflectiveOperationException {
    return Class.forName(MODES).getMethod("illegalNativeAccess").invoke(null).toString();
  }
}
