package io.mallometer.spring;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;

/** Makes the check of a password take 1 ms instead of 100 ms. */
@Configuration(proxyBeanMethods = false)
class QuickPasswords {

  static final String PASS = "$2a$04$4s37v.xLwDREW5lfbF1L5.YT5Z2SgMfezbLPsWQIcN.coQbU92UsG";

  @Bean
  PasswordEncoder encoder() {
    return new BCryptPasswordEncoder(4);
  }
}
