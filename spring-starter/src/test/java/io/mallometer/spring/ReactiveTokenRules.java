package io.mallometer.spring;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.csrf.CookieServerCsrfTokenRepository;
import org.springframework.security.web.server.csrf.WebSessionServerCsrfTokenRepository;

/** The rules of {@link ServletTokenRules} for Spring WebFlux. */
@Configuration(proxyBeanMethods = false)
class ReactiveTokenRules {

  @Bean
  SecurityWebFilterChain rules(ServerHttpSecurity http, Environment environment) {
    boolean cookie = "cookie".equals(environment.getProperty("test.token"));
    return http.authorizeExchange(exchanges -> exchanges.anyExchange().authenticated())
        .httpBasic(Customizer.withDefaults())
        .csrf(
            csrf ->
                csrf.csrfTokenRepository(
                    cookie
                        ? CookieServerCsrfTokenRepository.withHttpOnlyFalse()
                        : new WebSessionServerCsrfTokenRepository()))
        .build();
  }
}
