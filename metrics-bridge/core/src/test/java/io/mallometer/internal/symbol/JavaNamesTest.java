package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JavaNamesTest {

  @ParameterizedTest
  @CsvSource({
    "com.acme.Foo$$Lambda$123/0x0000000800c03000, com.acme.Foo$$Lambda",
    "com.acme.Foo$$Lambda$14+0x00000008000c4000, com.acme.Foo$$Lambda",
    "com.acme.Foo$$Lambda/0x00007f1a2c001000, com.acme.Foo$$Lambda",
    "com.acme.Foo$$Lambda.0x00007f1a2c001000, com.acme.Foo$$Lambda",
    "java.lang.invoke.LambdaForm$MH/0x0000000800c03000, java.lang.invoke.LambdaForm$MH",
    "com.acme.Hidden/0x0000000800c03000, com.acme.Hidden",
    "com.acme.Foo$$FastClassBySpringCGLIB$$1a2b, com.acme.Foo$$FastClassBySpringCGLIB",
    "com.acme.Foo$$EnhancerBySpringCGLIB$$fe12ab90, com.acme.Foo$$EnhancerBySpringCGLIB",
    "com.acme.Foo$$SpringCGLIB$$0, com.acme.Foo$$SpringCGLIB",
    "com.acme.Foo$$SpringCGLIB$$FastClass$$1, com.acme.Foo$$SpringCGLIB$$FastClass",
    "com.acme.Foo$ByteBuddy$Ab12Cd34, com.acme.Foo$ByteBuddy",
    "com.acme.Foo$HibernateProxy$Ab12Cd34, com.acme.Foo$HibernateProxy",
    "$Proxy12, $Proxy",
    "com.sun.proxy.$Proxy45, com.sun.proxy.$Proxy",
    "jdk.proxy2.$Proxy45, jdk.proxy.$Proxy",
    "jdk.internal.reflect.GeneratedMethodAccessor12, jdk.internal.reflect.GeneratedMethodAccessor",
    "com.acme.Foo, com.acme.Foo",
    "com.acme.Foo$1, com.acme.Foo$1",
    "com.acme.Foo$Bar, com.acme.Foo$Bar",
  })
  void classesHaveNoNumbersOfOneRun(String name, String stable) {
    assertThat(JavaNames.ofClass(name)).isEqualTo(stable);
    assertThat(JavaNames.ofClass(stable)).isEqualTo(stable);
  }

  @ParameterizedTest
  @CsvSource({
    "lambda$render$0, lambda$render",
    "lambda$render$1a2b3c4d$1, lambda$render",
    "lambda$new$12, lambda$new",
    "lambda$a$b$0, lambda$a$b",
    "render, render",
    "<init>, <init>",
    "access$000, access$000",
  })
  void methodsHaveNoNumbersOfLambdas(String name, String stable) {
    assertThat(JavaNames.ofMethod(name)).isEqualTo(stable);
    assertThat(JavaNames.ofMethod(stable)).isEqualTo(stable);
  }

  @Test
  void classesOfThisJvmHaveNone() {
    Runnable lambda = () -> {};
    Object proxy =
        Proxy.newProxyInstance(
            getClass().getClassLoader(), new Class<?>[] {Runnable.class}, (p, m, a) -> null);

    assertThat(JavaNames.ofClass(lambda.getClass().getName()))
        .isEqualTo(getClass().getName() + "$$Lambda");
    assertThat(JavaNames.ofClass(proxy.getClass().getName())).endsWith("proxy.$Proxy");
  }
}
