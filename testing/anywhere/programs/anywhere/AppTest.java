package anywhere;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;

@SpringBootTest(classes = App.class)
class AppTest {

  @Autowired private ApplicationContext context;

  @Test
  void theContextStarts() {
    assertNotNull(context.getBean(App.class));
  }
}
