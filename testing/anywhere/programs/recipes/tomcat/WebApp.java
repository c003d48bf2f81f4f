package recipe;

import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.support.SpringBootServletInitializer;
import org.springframework.context.annotation.Configuration;

/** A web application of Spring Boot that keeps some native memory and has no code for mallometer. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class WebApp extends SpringBootServletInitializer {

  private final List<Deflater> kept = new ArrayList<>();

  @Override
  protected SpringApplicationBuilder configure(SpringApplicationBuilder application) {
    for (int i = 0; i < 10; i++) {
      kept.add(new Deflater());
    }
    return application.sources(WebApp.class);
  }
}
