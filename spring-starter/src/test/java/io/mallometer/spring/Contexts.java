package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.support.GenericApplicationContext;

final class Contexts {

  private Contexts() {}

  /** Returns an application that reads the native library of this JVM, if there is one. */
  static SpringApplicationBuilder application() {
    return new SpringApplicationBuilder(TestApplication.class)
        .web(WebApplicationType.NONE)
        .bannerMode(Banner.Mode.OFF);
  }

  /** Returns an application with this bean, whether or not the library is preloaded. */
  static SpringApplicationBuilder with(Mallometer mallometer) {
    return with("mallometer", Mallometer.class, mallometer);
  }

  static <T> SpringApplicationBuilder with(String name, Class<T> type, T bean) {
    return application()
        .initializers(
            context ->
                ((GenericApplicationContext) context)
                    .registerBean(
                        name, type, () -> bean, definition -> definition.setDestroyMethodName("")));
  }
}
