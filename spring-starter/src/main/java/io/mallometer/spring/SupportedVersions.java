package io.mallometer.spring;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;

/**
 * Leaves out the auto-configurations of this jar, and logs one line, if Java or Spring Boot is too
 * old.
 *
 * <p>Spring Boot 2.7 on Java 8 must be able to load three classes of this jar, because it stops
 * otherwise: this class, {@link BackgroundStart} and {@link
 * MallometerManagementContextConfiguration}. They are compiled for Java 8, and use only types of
 * Spring that 2.7 has.
 */
final class SupportedVersions implements AutoConfigurationImportFilter {

  private static final int OLDEST_JAVA = 17;
  private static final int[] OLDEST_SPRING_BOOT = {3, 5};

  private static final String OWN_PACKAGE = "io.mallometer.";

  private static final Log logger = LogFactory.getLog(SupportedVersions.class);

  @Override
  public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
    String obstacle = obstacle();
    boolean[] matches = new boolean[classes.length];
    boolean leftOut = false;
    for (int i = 0; i < classes.length; i++) {
      String name = classes[i];
      matches[i] = obstacle == null || name == null || !name.startsWith(OWN_PACKAGE);
      leftOut |= !matches[i];
    }
    if (leftOut) {
      logger.info(
          "Native memory is not shown: " + obstacle + ". The application runs without mallometer");
    }
    return matches;
  }

  /** Returns why this jar cannot serve the application; null if it can. */
  static @Nullable String obstacle() {
    return obstacle(
        System.getProperty("java.specification.version", ""), SpringBootVersion.getVersion());
  }

  static @Nullable String obstacle(String java, @Nullable String springBoot) {
    if (java.startsWith("1.") || number(java) < OLDEST_JAVA) {
      return "mallometer needs Java 17 or newer, and this is Java " + java;
    }
    String[] parts = springBoot == null ? new String[0] : springBoot.split("\\.");
    int major = parts.length > 0 ? number(parts[0]) : 0;
    int minor = parts.length > 1 ? number(parts[1]) : 0;
    boolean tooOld =
        major < OLDEST_SPRING_BOOT[0]
            || major == OLDEST_SPRING_BOOT[0] && minor < OLDEST_SPRING_BOOT[1];
    return tooOld
        ? "mallometer needs Spring Boot 3.5 or newer, and this is "
            + (springBoot == null ? "an older version" : springBoot)
        : null;
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
