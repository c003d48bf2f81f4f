"""Tests that the counter of comments distinguishes fragments from sentences, and that the share of fragments has not risen."""

import subprocess
import unittest

import comments


class CommentsTest(unittest.TestCase):
    def test_a_comment_is_a_block_or_line_comments_on_consecutive_lines(self):
        self.assertEqual(comments.comments("""
            /**
             * Returns the size.
             *
             * @return bytes
             */
            int size(); // Of a page.

            // The pages
            // of a slot.

            // Others.
            char *url = "https://host/*"; /* -- Counters ------ */
            char quote = '"'; /* @formatter:off */
            """), ["Returns the size.\n\n@return bytes", "Of a page.", "The pages\nof a slot.", "Others.", "Counters ------"])

    def test_the_first_word_decides(self):
        for fragment in ("Of all threads.", "Nor this.", "The same for tests.", "What the allocator returned."):
            self.assertTrue(comments.is_fragment(fragment), fragment)
        for sentence in ("Returns the size.", "The size of all threads.", "{@code value} is a name", "Often the page is shared."):
            self.assertFalse(comments.is_fragment(sentence), sentence)
        self.assertIsNone(comments.is_fragment("0: none"))

    def test_every_source_belongs_to_a_module_with_a_ceiling(self):
        listed = subprocess.run(["git", "ls-files", "*.java", "*.c", "*.h", "*.cc", "*.cpp"], cwd=comments.REPOSITORY, check=True, capture_output=True, text=True)
        self.assertEqual([], [name for name in listed.stdout.split() if not name.startswith(tuple(module + "/" for module in comments.CEILINGS))])

    def test_no_share_of_fragments_has_risen(self):
        for module, ceiling in comments.CEILINGS.items():
            with self.subTest(module):
                fragments, count, share = comments.share(module)
                self.assertLessEqual(share, ceiling, f"{fragments} of {count} comments are fragments: testing/language/comments.py --show {module}")


if __name__ == "__main__":
    unittest.main()
