package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class ReactiveEndpointFilterTest {

  @Test
  void aRequestIsReadToItsEndBeforeItIsRefused() {
    List<String> order = new ArrayList<>();
    Flux<DataBuffer> body = Flux.<DataBuffer>empty().doOnComplete(() -> order.add("read"));
    MockServerWebExchange exchange =
        MockServerWebExchange.from(
            MockServerHttpRequest.post("/actuator/nativememory/trim").body(body));
    exchange.getResponse().beforeCommit(() -> Mono.fromRunnable(() -> order.add("answered")));

    new ReactiveEndpointFilter(
            new DefaultListableBeanFactory().getBeanProvider(PathMappedEndpoints.class), false)
        .filter(exchange, unused -> Mono.error(new AssertionError("not refused")))
        .block();

    assertThat(order).containsExactly("read", "answered");
    assertThat(exchange.getResponse().getStatusCode()).isEqualTo(HttpStatus.METHOD_NOT_ALLOWED);
  }
}
