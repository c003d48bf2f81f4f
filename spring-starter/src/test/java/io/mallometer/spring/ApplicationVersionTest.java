package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.springframework.boot.info.BuildProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

class ApplicationVersionTest {

  private final ApplicationContextRunner application = new ApplicationContextRunner();

  @Test
  void thePropertyGoesBeforeTheBuild() {
    application
        .withBean(BuildProperties.class, () -> build("4.5.6"))
        .withPropertyValues("spring.application.version=2.3.1")
        .run(context -> assertThat(version(context)).contains("2.3.1"));
  }

  @Test
  void withoutThePropertyThatOfTheBuild() {
    application
        .withBean(BuildProperties.class, () -> build("4.5.6"))
        .withPropertyValues("spring.application.version=")
        .run(context -> assertThat(version(context)).contains("4.5.6"));
  }

  @Test
  void withoutBothThereIsNone() {
    application.run(context -> assertThat(version(context)).isEmpty());
    application
        .withBean(BuildProperties.class, () -> new BuildProperties(new Properties()))
        .run(context -> assertThat(version(context)).isEmpty());
  }

  private static Optional<String> version(ConfigurableApplicationContext context) {
    return MallometerAutoConfiguration.applicationVersion(
        context.getEnvironment(), context.getBeanFactory());
  }

  private static BuildProperties build(String version) {
    Properties entries = new Properties();
    entries.setProperty("version", version);
    return new BuildProperties(entries);
  }
}
