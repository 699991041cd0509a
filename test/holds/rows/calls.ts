/** What agents of other servers send over A2A. */
import { loadConfig, startServer } from '@witan/server'
import type { Play, Row } from '../support/row.ts'
import { saying } from '../support/said.ts'

/** A server whose one agent is open to everybody: what is sent reaches it without a credential. */
async function serve(play: Play): Promise<string> {
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  const root = { id: 'root', model: 'play/root', instructions: 'You do it.', address: 'root' }
  const agents = [{ ...root, access: { call: ['anonymous'] } }]
  const models = { 'play/root': saying('play/root', () => ({ text: 'Done.' })) }
  const own = { ...config.server, port: 0, domain: 'bots.example' }
  const server = await startServer({ ...config, auth: { mode: 'none' }, models, agents, server: own })
  play.after(() => server.close())
  return server.url
}

const megabyte = 1_000_000
const longText = (piece: string, times: number) => piece.repeat(times)

/** A request of JSON-RPC with this message, in which further JSON may stand for its metadata or its parts. */
function rpc({ parts = '[{"text":"x"}]', metadata = '{}', references = '[]', modes = '[]' }): string {
  const about = `"metadata":${metadata},"referenceTaskIds":${references}`
  const message = `{"messageId":"m","role":"ROLE_USER","parts":${parts},${about}}`
  const params = `{"message":${message},"configuration":{"acceptedOutputModes":${modes}}}`
  return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${params}}`
}

const mentionable = (inner: string) => rpc({ metadata: `{"mentionable":{${inner}}}` })
const chain = '{"hop":1,"max_hops":4}'

/** Bodies by what they are, with the status of the answer. */
const bodies: Readonly<Record<string, readonly [status: number, body: string]>> = {
  'a request of 1 MB of brackets': [200, '['.repeat(megabyte)],
  'a method of 1 MB': [200, `{"jsonrpc":"2.0","id":1,"method":"${longText('x', megabyte)}"}`],
  'a method that every object has': [200, '{"jsonrpc":"2.0","id":1,"method":"__proto__"}'],
  'an id of 1 MB': [200, `{"jsonrpc":"2.0","id":"${longText('x', megabyte)}","method":"GetTask"}`],
  'a message of 30,000 parts': [200, rpc({ parts: `[${longText('{"text":"x"},', 30_000)}{"text":"y"}]` })],
  'a text of 0.9 MB of handles': [200, rpc({ parts: `[{"text":"${longText('@a ', 300_000)}"}]` })],
  'a text of 0.9 MB of blanks and a handle': [200, rpc({ parts: `[{"text":"${longText(' ', 900_000)}@root"}]` })],
  'a text of 0.4 MB of line breaks': [200, rpc({ parts: `[{"text":"x${longText('\\n', 400_000)}"}]` })],
  'a file of 0.9 MB that is no base64': [
    200,
    rpc({ parts: `[{"raw":"${longText('-_', 450_000)}!","mediaType":"text/plain"}]` }),
  ],
  'a file of 12 MB in the letters of URLs': [
    200,
    rpc({ parts: `[{"raw":"${longText('-_-_', 3_000_000)}","mediaType":"text/plain"}]` }),
  ],
  'a file of 12 MB': [200, rpc({ parts: `[{"raw":"${longText('AAAA', 3_000_000)}","mediaType":"text/plain"}]` })],
  '90,000 media types that it takes': [200, rpc({ modes: `[${longText('"a/b",', 90_000)}"text/plain"]` })],
  'a media type of 0.9 MB': [200, rpc({ modes: `["${longText(' ;', 450_000)}"]` })],
  'references to 90,000 tasks': [200, rpc({ references: `[${longText('"a",', 90_000)}"b"]` })],
  'references to 20 tasks of nobody': [200, rpc({ references: `[${longText('"a",', 19)}"b"]` })],
  'data of 90,000 values': [200, rpc({ parts: `[{"data":[${longText('0,', 90_000)}0]}]` })],
  '10,000 pieces of evidence': [
    200,
    mentionable(`"identity_evidence":[${longText('{"subject":"@a@a.test"},', 10_000)}{}]`),
  ],
  'two chains that disagree': [
    200,
    mentionable(`"agent_chain":${chain},"recipient_capabilities":{"agent_chain":{"hop":9,"max_hops":10}}`),
  ],
  'a chain among 9,000 keys': [
    200,
    mentionable(`${Array.from({ length: 9_000 }, (_, at) => `"k${at}":0,`).join('')}"agent_chain":${chain}`),
  ],
  'capabilities of 0.9 MB': [
    200,
    mentionable(`"recipient_capabilities":{"mention_relay":"${longText('inline', 150_000)}"}`),
  ],
  'a resolution with a state of 0.9 MB': [
    200,
    mentionable(`"policy_resolution":{"in_reply_to_state":"${longText('aaaa', 225_000)}"}`),
  ],
  'a resolution of 90,000 values': [
    200,
    mentionable(`"policy_resolution":{"in_reply_to_state":"x","values":[${longText('0,', 90_000)}0]}`),
  ],
  'a resolution that names the prototype': [
    200,
    mentionable('"policy_resolution":{"__proto__":{"in_reply_to_state":"x"}}'),
  ],
  'metadata that names the prototype': [
    200,
    rpc({ metadata: '{"__proto__":{"mentionable":{"agent_chain":7}},"mentionable":{}}' }),
  ],
}

function posting(name: string, [status, body]: readonly [status: number, body: string], path: string): Row {
  return {
    name: `an agent of another server sends ${name}`,
    setUp: async (play) => {
      const url = await serve(play)
      return () => play.outside.send({ url: `${url}${path}?A2A-Version=1.0`, status, method: 'POST', body })
    },
  }
}

export const calls: readonly Row[] = Object.entries(bodies).map(([name, body]) => posting(name, body, '/a2a/root'))
