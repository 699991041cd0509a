/** The effect ledger: a process of its own with its own file, so that it survives whatever the workers go through. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { json } from 'node:stream/consumers'

const file = process.argv[2]
if (file === undefined) throw new Error('the ledger needs its file')

const db = new DatabaseSync(file)
db.exec('pragma journal_mode = wal; pragma synchronous = normal')
db.exec('create table if not exists execution (tool text, effect text, call text, conversation text, at integer)')
db.exec('create table if not exists applied (call text primary key)')
const execute = db.prepare('insert into execution values (?, ?, ?, ?, ?)')
const apply = db.prepare('insert or ignore into applied values (?)')
const executions = db.prepare(
  'select tool, effect, call as callId, conversation, count(*) as times, max(at) as at from execution group by call, tool',
)
const applied = db.prepare('select call from applied')

/** `/plain` counts; `/keyed` counts too, and applies only the first of one key. */
const server = createServer(async (request, response) => {
  const path = request.url ?? ''
  if (path === '/all') {
    const keys = applied.all().map((row) => row['call'])
    response.end(JSON.stringify({ executions: executions.all(), applied: keys }))
    return
  }
  const deed = (await json(request)) as Record<string, string | number>
  const values = [deed['tool'], deed['effect'], deed['callId'], deed['conversation']].map(String)
  execute.run(...values, Number(deed['at']))
  const key = request.headers['idempotency-key']
  if (path === '/keyed' && typeof key === 'string') apply.run(key)
  response.end('{}')
})
// It ends with whoever reads it.
process.stdin.on('close', () => process.exit(0)).resume()
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')
console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}`)
