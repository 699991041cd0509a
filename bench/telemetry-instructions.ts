/**
 * Counts instructions that a server takes for a run, without traces and with them: `npm run bench:telemetry-instructions --
 * [--scenarios S2,S4] [--stores memory,normal] [--warm 1000] [--runs 256] [--seed 7]`. It needs valgrind, and takes some minutes for each
 * figure. A busy machine changes nothing in a count, so it shows what is lost in the scatter of times. What the operating system does for the
 * server is not counted; it is the same with traces, so their part of all CPU is smaller than here.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { aboutHere } from './about.ts'
import { callgrind, countedFlags, countedIn } from './callgrind.ts'
import { gridOf, short } from './grid.ts'
import { clients, runServed } from './served.ts'
import { open } from './subprocess.ts'

const { values } = parseArgs({
  options: {
    scenarios: { type: 'string', default: 'S2,S4' },
    stores: { type: 'string', default: 'memory,normal' },
    warm: { type: 'string', default: '1000' },
    runs: { type: 'string', default: '256' },
    seed: { type: 'string', default: '7' },
  },
})

const contents = ['off', 'none', 'full'] as const

/** Thousands of instructions a run. */
async function countOf({ scenario, store, content }: { scenario: string; store: string; content: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'witan-count-'))
  const out = join(folder, 'counts')
  const sink = await open('telemetry-sink.ts', [])
  const models = await open('model-server.ts', [scenario])
  const urls = [`http://127.0.0.1:${sink.first['port']}/v1/traces`, `http://127.0.0.1:${models.first['port']}/v1`]
  const how = { flags: countedFlags(values.seed), under: callgrind(out), env: { TMPDIR: folder } }
  const server = await open('telemetry-counted.ts', [scenario, store, content, ...urls], how)
  const make = async (runs: number) => {
    for (let run = 0; run < runs; run += clients) await runServed(server.first['port'])
  }
  await make(Number(values.warm))
  await server.ask('mark')
  await make(Number(values.runs))
  await server.ask('mark')
  const thousands = countedIn(out) / Number(values.runs) / 1000
  // Closing takes minutes there, and is not counted.
  await server.kill()
  const { spans = 0 } = await sink.ask('count')
  await sink.close()
  await models.close()
  rmSync(folder, { recursive: true, force: true })
  return { thousands, spans }
}

async function main(): Promise<void> {
  const rows: string[][] = []
  for (const store of values.stores.split(','))
    for (const scenario of values.scenarios.split(',')) {
      const row = [`${scenario} ${store} served`]
      let base = Number.NaN
      for (const content of contents) {
        const { thousands, spans } = await countOf({ scenario, store, content })
        console.error(`${row[0]}: ${content} ${short(thousands)}`)
        if (content === 'off') base = thousands
        row.push(short(thousands), ...(content === 'off' ? [] : [(thousands / base).toFixed(3), `${spans}`]))
      }
      rows.push(row)
    }
  console.log(`${aboutHere().text}; thousands of instructions a run, and ratios to \`off\`\n`)
  console.log(gridOf(['', 'off', 'none', 'ratio', 'spans taken', 'full', 'ratio', 'spans taken'], rows))
}

await main()
