package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/**
 * Checks which packages count as the application's own. The frames in these packages give call
 * sites their names.
 */
@Tag("any-jdk")
class ApplicationPackagesTest {

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(MallometerAutoConfiguration.class));

  @Test
  void withoutASettingThoseThatAreScannedForComponents() {
    application
        .withInitializer(
            context ->
                AutoConfigurationPackages.register(
                    (GenericApplicationContext) context, "com.shop", "com.bank"))
        .run(
            context -> {
              List<String> scanned =
                  MallometerAutoConfiguration.scannedPackages(context.getBeanFactory());
              assertThat(scanned).containsExactlyInAnyOrder("com.shop", "com.bank");
              assertThat(packages(context)).isEqualTo(scanned);
            });
  }

  @Test
  void thoseThatAreSetAndNoOthers() {
    application
        .withPropertyValues("mallometer.sites.application-packages=com.shop.cart,com.shop.till")
        .run(
            context ->
                assertThat(packages(context)).containsExactly("com.shop.cart", "com.shop.till"));
  }

  @Test
  void anEmptySettingIsNone() {
    application
        .withInitializer(
            context ->
                AutoConfigurationPackages.register((GenericApplicationContext) context, "com.shop"))
        .withPropertyValues("mallometer.sites.application-packages=")
        .run(context -> assertThat(packages(context)).containsExactly("com.shop"));
  }

  @Test
  void whereNothingIsScannedThereAreNone() {
    application.run(
        context ->
            assertThat(MallometerAutoConfiguration.scannedPackages(context.getBeanFactory()))
                .isEmpty());
  }

  private static List<String> packages(ApplicationContext context) {
    return context.getBean(MallometerOptions.class).get(Setting.APPLICATION_PACKAGES);
  }
}
