import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommanderError } from 'commander';
import { createProgram, type ParsedCommand } from './program.js';

function parse(...args: readonly string[]): ParsedCommand | string {
  let parsed: ParsedCommand | undefined;
  let message = '';
  const program = createProgram('1.0.0', (command) => {
    parsed = command;
  });
  for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)]) {
    command.configureOutput({ writeErr: (text) => (message += text), writeOut: (text) => (message += text) });
  }
  try {
    program.parse(['node', 'castellan', ...args]);
  } catch (error) {
    assert.ok(error instanceof CommanderError);
    return message;
  }
  return parsed ?? assert.fail('no command was run');
}

function optionsOf(...args: readonly string[]): unknown {
  const parsed = parse(...args);
  return typeof parsed === 'string' ? assert.fail(parsed) : parsed.options;
}

test('--output and --data-dir are taken before the command and after it', () => {
  assert.deepEqual(optionsOf('--output', 'json', 'status'), { output: 'json', arguments: [] });
  assert.deepEqual(optionsOf('status', '-o', 'json', '--data-dir', 'd'), {
    output: 'json',
    dataDir: 'd',
    arguments: [],
  });
  assert.deepEqual(optionsOf('--output', 'json', 'status', '--output', 'text'), { output: 'text', arguments: [] });
});

test('up takes a port, a list of operators, --no-node and --no-controllers', () => {
  const options = optionsOf('up', '--port', '0', '--operators', 'none', '--no-node', '--detach');
  assert.deepEqual(options, {
    port: 0,
    operators: 'none',
    node: false,
    controllers: true,
    detach: true,
    arguments: [],
  });
  assert.deepEqual(optionsOf('up', '--no-controllers'), { node: true, controllers: false, arguments: [] });
});

test('a command of a group is named by two words, and takes the options of all', () => {
  assert.deepEqual(optionsOf('node', 'stop', 'vm-2', '--data-dir', 'd'), { dataDir: 'd', arguments: ['vm-2'] });
  assert.deepEqual(optionsOf('-o', 'json', 'node', 'ls'), { output: 'json', arguments: [] });
  assert.match(String(parse('node', 'stop')), /missing required argument 'NAME'/);
  assert.match(String(parse('node', 'strt')), /unknown command 'strt'/);
});

test('what is wrong with a command line is said in one line that names it', () => {
  assert.match(String(parse('up', '--port', '65536')), /--port.*65536.*whole number from 0 to 65535/);
  assert.match(String(parse('up', '--port', '1.5')), /whole number/);
  assert.match(String(parse('up', '--nodes', '0')), /--nodes.*whole one above 0/);
  assert.match(String(parse('status', '--output', 'xml')), /text, json/);
  assert.match(String(parse('apply')), /required option '-f, --file <FILE>'/);
  assert.match(String(parse('sttus')), /Did you mean status/);
  assert.match(String(parse('status', 'extra')), /too many arguments/);
});

test('help names every command and the exit statuses, and not what is for the program itself', () => {
  const help = String(parse('--help'));
  for (const word of ['up', 'down', 'status', 'apply', 'plan', 'kubeconfig', 'doctor', 'demo', '6 deadline']) {
    assert.ok(help.includes(word), word);
  }
  assert.doesNotMatch(String(parse('up', '--help')), /announce/);
});
