package io.mallometer.spring;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.HttpSessionCsrfTokenRepository;

/**
 * Users may do everything. A change needs a CSRF token. The property {@code test.token} selects
 * whether the token is kept in a cookie or in the session.
 */
@Configuration(proxyBeanMethods = false)
class ServletTokenRules {

  @Bean
  SecurityFilterChain rules(HttpSecurity http, Environment environment) throws Exception {
    boolean cookie = "cookie".equals(environment.getProperty("test.token"));
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .httpBasic(Customizer.withDefaults())
        .csrf(
            csrf ->
                csrf.csrfTokenRepository(
                    cookie
                        ? CookieCsrfTokenRepository.withHttpOnlyFalse()
                        : new HttpSessionCsrfTokenRepository()))
        .build();
  }
}
