package io.mallometer.agent.payload;

import java.lang.reflect.Method;

/**
 * Gives the payload's module the right to load native code, without which JDK 24 and newer print a
 * warning. Does not override a denial.
 */
final class NativeAccess {

  private static final String MODES = "jdk.internal.module.ModuleBootstrap";
  private static final String WARN = "WARN";

  private NativeAccess() {}

  /**
   * Gives the right if the JDK would print a warning. The agent has opened to this module the
   * packages of the JDK that this method needs.
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
