import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syntaxProblem } from './json-problem.js';

const endOfInput = 'unexpected end of JSON input';

test('what is wrong with a text is said in the words of Go', () => {
  const problems = {
    '': endOfInput,
    '{': endOfInput,
    '{"a":': endOfInput,
    '{"a":"b': endOfInput,
    '{"a":-': endOfInput,
    '[1,': endOfInput,
    nope: "invalid character 'o' in literal null (expecting 'u')",
    'a: b': "invalid character 'a' looking for beginning of value",
    '{a: 1}': "invalid character 'a' looking for beginning of object key string",
    '{"a" 1}': "invalid character '1' after object key",
    '{"a":1 "b":2}': "invalid character '\"' after object key:value pair",
    '{"a":1,}': "invalid character '}' looking for beginning of object key string",
    '[1 2]': "invalid character '2' after array element",
    '[1,]': "invalid character ']' looking for beginning of value",
    '{} x': "invalid character 'x' after top-level value",
    '{"a":01}': "invalid character '1' after object key:value pair",
    '{"a":1.x}': "invalid character 'x' after decimal point in numeric literal",
    '{"a":1ex}': "invalid character 'x' in exponent of numeric literal",
    '{"a":-x}': "invalid character 'x' in numeric literal",
    '{"a":"\n"}': "invalid character '\\n' in string literal",
    '{"a":"\\q"}': "invalid character 'q' in string escape code",
    '{"a":"\\u00g0"}': "invalid character 'g' in \\u hexadecimal character escape",
    "{'a':1}": "invalid character '\\'' looking for beginning of object key string",
  };
  for (const [text, problem] of Object.entries(problems)) assert.equal(syntaxProblem(text), problem, text);
});
