package io.mallometer.spring;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class OneShotApplication {

  public static void main(String[] arguments) {
    try (RunningApplication application =
        RunningApplication.start(new SpringApplication(OneShotApplication.class), arguments)) {
      print(application.scrape());
      System.out.println(application.get("/actuator/nativememory"));
      System.out.println(application.response("/actuator/info").body());
    }
  }

  private static void print(Map<String, Double> scrape) {
    scrape.forEach((series, value) -> System.out.println(series + " " + value));
  }
}
