/**
 * What it costs to find out who asks: `node --conditions=witan-source bench/auth.ts [--ms 1000] [--rounds 7] [--stores memory,full] [--json FILE]`.
 * CPU of one check after the first one of a key, with 1 key and with 1,000 in turn; the first check of a key, which asks the store;
 * and one check of a verified JWT. The requests are made beforehand: only the check is measured.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { createRuntime, localPrincipal } from '@witan/core'
import { type Auth, createAuth, createKeyAuth, openAuth } from '@witan/server'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { aboutHere } from './about.ts'
import { percentile } from './figure.ts'
import { gridOf } from './grid.ts'
import { type GroundName, openGround, storeAt } from './ground.ts'
import { cpuNow } from './measure.ts'

const { values } = parseArgs({
  options: {
    ms: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '7' },
    stores: { type: 'string', default: 'memory,full' },
    json: { type: 'string' },
  },
})
const manyKeys = 1_000
const port = () => 4747

interface Cost {
  readonly what: string
  readonly medianUs: number
  readonly leastUs: number
}

const asking = (key: string): Request =>
  new Request('http://127.0.0.1:4747/api/v1/agents', { headers: { authorization: `Bearer ${key}` } })

/** CPU in µs of one check, all requests in turn; the refreshes of that time are in it. */
async function costOf(what: string, auth: Auth, requests: readonly Request[]): Promise<Cost> {
  const rounds: number[] = []
  await Promise.all(requests.map((request) => auth.check(request)))
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const until = performance.now() + Number(values.ms)
    const from = cpuNow()
    let checks = 0
    while (performance.now() < until) {
      for (let one = 0; one < 100; one += 1) await auth.check(requests[checks++ % requests.length] as Request)
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (round > 0) rounds.push((cpuNow() - from) / checks)
  }
  return { what, medianUs: percentile(rounds, 0.5), leastUs: percentile(rounds, 0) }
}

async function keysOn(name: GroundName): Promise<readonly Cost[]> {
  const ground = openGround()
  const runtime = createRuntime({ store: storeAt(await ground.site(name)) })
  const made: Request[] = []
  for (let one = 0; one < manyKeys; one += 1)
    made.push(asking((await runtime.as(localPrincipal).keys.create({ roles: ['run'] })).key))
  const create = () => createKeyAuth({ lookup: runtime.keyLookup, port, log: () => undefined })
  const from = cpuNow()
  const first = create()
  for (const request of made) await first.check(request)
  const firstUs = (cpuNow() - from) / manyKeys
  const costs = [
    { what: `${name}: a key, first check`, medianUs: firstUs, leastUs: firstUs },
    await costOf(`${name}: a key, again`, create(), made.slice(0, 1)),
    await costOf(`${name}: ${manyKeys} keys, again`, create(), made),
  ]
  await runtime.close()
  await ground.close()
  return costs
}

async function jwtCost(): Promise<Cost> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const set = JSON.stringify({ keys: [await exportJWK(publicKey)] })
  const server = createServer((_, response) => void response.end(set))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const runtime = createRuntime()
  const config = { auth: { mode: 'jwt', issuer, audience: 'witan' } } as const
  const auth = await openAuth(config, { runtime, port, log: () => undefined })
  const body = { iss: issuer, aud: 'witan', db: 'default', sub: 'anna', roles: ['run'] }
  const token = new SignJWT(body).setProtectedHeader({ alg: 'ES256' }).setExpirationTime('1h')
  return costOf('a verified token, again', auth, [asking(await token.sign(privateKey))])
}

const about = aboutHere()
const costs: Cost[] = []
const local = createAuth('local', port)
costs.push(await costOf('the token of mode local', local, [asking(local.token ?? '')]))
for (const name of values.stores.split(',') as GroundName[]) costs.push(...(await keysOn(name)))
costs.push(await jwtCost())
console.log(`${about.text}\n`)
const shown = costs.map(({ what, medianUs, leastUs }) => [what, medianUs.toFixed(1), leastUs.toFixed(1)])
console.log(gridOf(['CPU of a check, µs', 'median', 'least'], shown))
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ about, costs }, null, 2))
process.exit()
