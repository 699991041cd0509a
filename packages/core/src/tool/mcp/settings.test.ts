/** MCP servers of a configuration: defaults, variables, blocks of other clients, and what is wrong, without a value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWitanError } from '@witan/protocol'
import { inlineSecretsOf } from './inline-secrets.ts'
import { mcpSettingsOf } from './settings.ts'

const env = {
  TOKEN: 'hunter2-hunter2',
  HOST: 'crm.example',
  EMPTY: '',
  BREAK: 'a\r\nx-admin: 1',
  SECRET: 's3cr3t-value',
}
const read = (servers: unknown) => mcpSettingsOf(servers, env)
const one = (server: object) => {
  const settings = read({ files: server }).get('files')
  assert.ok(settings)
  return settings
}

test('a server has the defaults of the contract', () => {
  assert.deepEqual(one({ command: 'npx' }), {
    name: 'files',
    transport: { type: 'stdio', command: 'npx', args: [], cwd: null, env: {} },
    trusted: false,
    readOnly: [],
    effects: {},
    onChange: 'block',
    roots: [],
    ask: true,
    scope: 'process',
    timeoutMs: 60_000,
    maxTotalMs: 600_000,
    connectTimeoutMs: 10_000,
    maxResultCharacters: 32_000,
    maxTools: 64,
    required: false,
  })
  assert.deepEqual(one({ url: 'https://crm.example/mcp' }).transport, {
    type: 'http',
    url: 'https://crm.example/mcp',
    headers: {},
    auth: null,
  })
  assert.deepEqual([...read({ b: { command: 'b' }, a: { command: 'a' } }).keys()], ['b', 'a'])
  assert.equal(read({}).size, 0)
})

test('variables are filled in where the contract says so', () => {
  assert.deepEqual(
    one({ command: 'x', args: ['--token', `a\${TOKEN}b\${HOST}`], cwd: 'y', env: { A: `\${TOKEN}`, B: '$TOKEN' } })
      .transport,
    {
      type: 'stdio',
      command: 'x',
      args: ['--token', 'ahunter2-hunter2bcrm.example'],
      cwd: 'y',
      env: { A: 'hunter2-hunter2', B: '$TOKEN' },
    },
  )
  const auth = {
    kind: 'clientCredentials',
    tokenUrl: 'https://id.example/token',
    clientId: 'me',
    clientSecretEnv: 'SECRET',
  }
  assert.deepEqual(one({ url: `https://\${HOST}/mcp`, headers: { 'X-Key': `Key \${TOKEN}` }, auth }).transport, {
    type: 'http',
    url: 'https://crm.example/mcp',
    headers: { 'X-Key': 'Key hunter2-hunter2' },
    auth: {
      kind: 'clientCredentials',
      tokenUrl: 'https://id.example/token',
      clientId: 'me',
      clientSecret: 's3cr3t-value',
      scope: null,
    },
  })
  assert.deepEqual((one({ command: 'x', env: { A: `\${TOKEN}` } }).transport as { env: object }).env, { A: env.TOKEN })
  // What a variable holds is not read again.
  const again = mcpSettingsOf({ a: { command: 'x', args: [`\${A}`] } }, { A: `\${B}`, B: 'b' }).get('a')?.transport
  assert.deepEqual(again?.type === 'stdio' && again.args, [`\${B}`])
})

test('blocks of other clients can be pasted', () => {
  const blocks: readonly object[] = [
    { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: {} },
    { command: 'npx', args: [], disabled: false, autoApprove: [], alwaysAllow: [] },
    { command: 'npx', description: 'Files', enabled: true },
    { type: 'http', url: 'https://x/mcp' },
    { type: 'streamable-http', url: 'https://x/mcp', headers: {} },
    { type: 'streamableHttp', url: 'https://x/mcp', auth: null },
    { command: 'npx', cwd: null, auth: null },
  ]
  for (const block of blocks) assert.equal(one(block).name, 'files', JSON.stringify(block))
})

test('what is wrong is said with its path, and without a value', () => {
  const table: readonly (readonly [servers: unknown, path: string, words: RegExp])[] = [
    [null, 'mcpServers', /must be an object/],
    [[], 'mcpServers', /must be an object/],
    [{ My_Files: { command: 'x' } }, 'mcpServers.My_Files', /Call it `my-files`/],
    [{ '\u202e': { command: 'x' } }, 'mcpServers.\\u202e', /must have a name/],
    [JSON.parse('{"__proto__":{"command":"x"}}'), 'mcpServers.__proto__', /must have a name/],
    [{ files: null }, 'mcpServers.files', /must be an object/],
    [{ files: {} }, 'mcpServers.files', /neither `command` nor `url`/],
    [{ files: { command: 'x', url: 'https://x' } }, 'mcpServers.files', /both `command` and `url`/],
    [
      { files: { type: 'sse', url: 'https://x' } },
      'mcpServers.files.type',
      /`sse`, which is not supported.*streamable HTTP/s,
    ],
    [{ files: { type: 'ws', url: 'https://x' } }, 'mcpServers.files.type', /must be `stdio` or `http`/],
    [{ files: { type: 'http', command: 'x' } }, 'mcpServers.files.type', /does not fit `command`/],
    [{ files: { type: 'stdio', url: 'https://x' } }, 'mcpServers.files.type', /does not fit `url`/],
    [{ files: { command: 'x', headers: {} } }, 'mcpServers.files.headers', /belongs to a server with `url`/],
    [{ files: { url: 'https://x', env: {} } }, 'mcpServers.files.env', /belongs to a server with `command`/],
    [{ files: { command: 5 } }, 'mcpServers.files.command', /must be text/],
    [{ files: { command: '' } }, 'mcpServers.files.command', /not empty/],
    [{ files: { command: `\${TOKEN}` } }, 'mcpServers.files.command', /cannot have a variable/],
    [{ files: { command: 'x\0' } }, 'mcpServers.files.command', /U\+0000/],
    [{ files: { command: 'x', args: 'hunter2' } }, 'mcpServers.files.args', /must be a list of texts/],
    [{ files: { command: 'x', args: ['hunter2', 5] } }, 'mcpServers.files.args.1', /must be text/],
    [
      { files: { command: 'x', env: { 'a b': 'hunter2' } } },
      'mcpServers.files.env.a b',
      /variables of the environment/,
    ],
    [{ files: { command: 'x', env: { TOKEN: 5 } } }, 'mcpServers.files.env.TOKEN', /must be text/],
    [
      { files: { command: 'x', env: { TOKEN: `hunter2\${NONE}` } } },
      'mcpServers.files.env.TOKEN',
      /variable NONE of the environment, which is not set.*Set NONE/s,
    ],
    [{ files: { command: 'x', args: ['-v', `\${EMPTY}`] } }, 'mcpServers.files.args.1', /variable EMPTY/],
    [{ files: { command: 'x', args: [`\${constructor}`] } }, 'mcpServers.files.args.0', /variable constructor/],
    [
      { files: { command: 'x', env: { A: `\${env:TOKEN}` } } },
      'mcpServers.files.env.A',
      /`\$\{env:…\}`, which is not supported/,
    ],
    [{ files: { command: 'x', env: { A: `\${input:token}` } } }, 'mcpServers.files.env.A', /`\$\{input:…\}`/],
    [
      { files: { command: 'x', env: { A: `\${TOKEN:-hunter2}` } } },
      'mcpServers.files.env.A',
      /a default for a variable/,
    ],
    [{ files: { url: 'ftp://x' } }, 'mcpServers.files.url', /http or https/],
    [{ files: { url: `\${TOKEN}` } }, 'mcpServers.files.url', /http or https/],
    [{ files: { url: 'https://me:hunter2@x/mcp' } }, 'mcpServers.files.url', /must not hold a user or a password/],
    [{ files: { url: 'https://x', headers: { 'a b': 'x' } } }, 'mcpServers.files.headers.a b', /headers/],
    [{ files: { url: 'https://x', headers: { A: `\${BREAK}` } } }, 'mcpServers.files.headers.A', /one line/],
    [{ files: { url: 'https://x', headers: { A: 'x', a: 'y' } } }, 'mcpServers.files.headers', /`a` twice/],
    [
      { files: { url: 'https://x', headers: { 'Mcp-Session-Id': 'x' } } },
      'mcpServers.files.headers.mcp-session-id',
      /the protocol writes/,
    ],
    [{ files: { url: 'https://x', auth: 'hunter2' } }, 'mcpServers.files.auth', /must be an object, or null/],
    [
      { files: { url: 'https://x', auth: { ...auth, kind: 'code' } } },
      'mcpServers.files.auth.kind',
      /clientCredentials/,
    ],
    [
      { files: { url: 'https://x', auth: { ...auth, tokenUrl: 'x' } } },
      'mcpServers.files.auth.tokenUrl',
      /http or https/,
    ],
    [
      { files: { url: 'https://x', auth: { ...auth, clientSecretEnv: 'NONE' } } },
      'mcpServers.files.auth.clientSecretEnv',
      /NONE, which is not set/,
    ],
    [
      { files: { url: 'https://x', headers: { authorization: 'hunter2' }, auth } },
      'mcpServers.files.auth',
      /cannot stand beside/,
    ],
    [
      { files: { command: 'x', effects: { move: 'maybe' } } },
      'mcpServers.files.effects.move',
      /`none`, `keyed` or `once`/,
    ],
    [{ files: { command: 'x', onChange: 'ignore' } }, 'mcpServers.files.onChange', /`block` or `warn`/],
    [{ files: { command: 'x', scope: 'run' } }, 'mcpServers.files.scope', /`process` or `conversation`/],
    [{ files: { command: 'x', trusted: 'yes' } }, 'mcpServers.files.trusted', /true or false/],
    [{ files: { command: 'x', maxTools: 501 } }, 'mcpServers.files.maxTools', /at most 500/],
    [{ files: { command: 'x', timeoutMs: 1.5 } }, 'mcpServers.files.timeoutMs', /a whole number/],
    [{ files: { command: 'x', readOnly: ['*'.repeat(200)] } }, 'mcpServers.files.readOnly.0', /at most 128/],
  ]
  for (const [servers, path, words] of table)
    assert.throws(
      () => read(servers),
      (error) => {
        assert.ok(isWitanError(error), String(error))
        const said = `${error.message} ${error.hint}`
        assert.deepEqual([error.code, error.path], ['CONFIG_INVALID', path], said)
        assert.match(said, words)
        assert.ok(!said.includes('hunter2') && !said.includes('\u202e'), said)
        return true
      },
    )
})

const auth = {
  kind: 'clientCredentials',
  tokenUrl: 'https://id.example/token',
  clientId: 'me',
  clientSecretEnv: 'SECRET',
}

test('an unknown key is refused with what to write instead', () => {
  const table: readonly (readonly [key: string, value: unknown, hint: RegExp])[] = [
    ['commands', 'x', /Did you mean `command`\?/],
    ['timeoutMS', 5, /Did you mean `timeoutMs`\?/],
    ['timeout', 30, /`timeoutMs`/],
    ['disabled', true, /Remove the server/],
    ['autoApprove', ['read'], /`readOnly`/],
    ['serverUrl', 'https://x', /`url`/],
    ['httpUrl', 'https://x', /`url`/],
    ['envFile', '.env', /environment/],
    ['oauth', {}, /`auth`/],
    ['includeTools', [], /`mcp\[\]\.tools`/],
    ['whatever-it-is', 1, /Known: type, command/],
    ['constructor', 1, /Known:/],
    ['x'.repeat(5000), 1, /Known:/],
  ]
  for (const [key, value, hint] of table)
    assert.throws(
      () => read({ files: { command: 'x', [key]: value } }),
      (error) => {
        assert.ok(isWitanError(error) && error.code === 'UNKNOWN_KEY', key)
        assert.match(error.hint ?? '', hint)
        return error.message.length < 300
      },
    )
  assert.throws(
    () => read({ files: { url: 'https://x', auth: { ...auth, scopes: 'x' } } }),
    (error) =>
      isWitanError(error) && error.path === 'mcpServers.files.auth.scopes' && error.hint === 'Did you mean `scope`?',
  )
})

test('secrets that stand as text are found, with their place', () => {
  const table: readonly (readonly [written: Parameters<typeof inlineSecretsOf>[0], found: readonly string[]])[] = [
    [{ env: { TOKEN: 'hunter2' } }, ['env.TOKEN']],
    [{ env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'ghp_0123456789abcdef' } }, ['env.GITHUB_PERSONAL_ACCESS_TOKEN']],
    [{ env: { OPENAI_API_KEY: 'sk-0123456789' } }, ['env.OPENAI_API_KEY']],
    [{ env: { apiKey: 'abc12345678' } }, ['env.apiKey']],
    [{ env: { SETTING: 'AKIAIOSFODNN7EXAMPLE' } }, ['env.SETTING']],
    [{ headers: { Authorization: 'Bearer abcdefghijk' } }, ['headers.Authorization']],
    [{ args: ['--api-key=abc12345678', '--token', 'hunter2', '--verbose', 'hunter2'] }, ['args.0', 'args.2']],
    [{ args: ['-y', 'server', 'glpat-xxxx'] }, ['args.2']],
    [
      { env: { TOKEN: `\${TOKEN}`, LEVEL: 'info', KEY_FILE: '/etc/key.pem', TOKEN_URL: 'https://id.example/token' } },
      [],
    ],
    [
      { env: { AUTH_MODE: 'interactive', KEYBOARD: 'abc12345678', MAX_TOKENS: '4096', USE_TOKEN: 'true', TOKEN: '' } },
      [],
    ],
    [{ headers: { Authorization: `Bearer \${TOKEN}`, Accept: 'application/json' } }, []],
    [{ args: ['-y', '@modelcontextprotocol/server-filesystem', '/data', '--token', '--verbose'] }, []],
    [{}, []],
  ]
  for (const [written, found] of table) assert.deepEqual(inlineSecretsOf(written), found, JSON.stringify(written))
  assert.deepEqual(one({ command: 'x', env: { TOKEN: 'hunter2' } }).inlineSecrets, ['env.TOKEN'])
  assert.equal(one({ command: 'x', env: { TOKEN: `\${TOKEN}` } }).inlineSecrets, undefined)
})
