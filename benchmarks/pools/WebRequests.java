package io.mallometer.benchmarks.pools;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;

/** Serves requests over loopback by a handler of Spring WebFlux, whose server is Netty. */
public final class WebRequests implements Handler.Requests {

  private final HttpClient client = HttpClient.newHttpClient();
  private final ConfigurableApplicationContext context;
  private final SessionStore store;
  private final String address;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  public static class Application {
    @Bean
    SessionStore store() {
      return new SessionStore();
    }
  }

  @RestController
  static final class SessionStore {
    private final Deque<DataBuffer> sessions = new ConcurrentLinkedDeque<>();

    @GetMapping("/keep")
    String keep(ServerWebExchange exchange) {
      sessions.add(exchange.getResponse().bufferFactory().allocateBuffer(Handler.BYTES)); // KEEP
      return "kept";
    }

    @GetMapping("/serve")
    String serve(ServerWebExchange exchange) {
      DataBufferUtils.release(exchange.getResponse().bufferFactory().allocateBuffer(Handler.BYTES));
      return "served";
    }
  }

  public WebRequests() {
    context =
        SpringApplication.run(
            Application.class,
            "--server.port=0",
            "--server.address=127.0.0.1",
            "--spring.main.web-application-type=reactive");
    store = context.getBean(SessionStore.class);
    address = "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port");
  }

  @Override
  public void serve(boolean keeps) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address + (keeps ? "/keep" : "/serve"))).build();
    client.send(request, HttpResponse.BodyHandlers.discarding());
  }

  @Override
  public void expire(int most) {
    while (store.sessions.size() > most) {
      DataBufferUtils.release(store.sessions.remove());
    }
  }

  @Override
  public int kept() {
    return store.sessions.size();
  }

  @Override
  public void close() {
    context.close();
  }
}
