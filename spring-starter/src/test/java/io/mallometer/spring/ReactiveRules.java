package io.mallometer.spring;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;

/** The rules of {@link ServletRules} for Spring WebFlux. */
@Configuration(proxyBeanMethods = false)
class ReactiveRules {

  @Bean
  SecurityWebFilterChain rules(ServerHttpSecurity http) {
    return http.authorizeExchange(
            exchanges ->
                exchanges
                    .pathMatchers(HttpMethod.POST)
                    .hasRole("ADMIN")
                    .anyExchange()
                    .authenticated())
        .httpBasic(Customizer.withDefaults())
        .csrf(csrf -> csrf.disable())
        .build();
  }
}
