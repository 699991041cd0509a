/** Agents of other frameworks as remotes: each is called by the URL of its card, and what it asks is answered on the same task. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRuntime, type Runtime } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'
import { freePort } from '../support/free-port.ts'

interface Row {
  readonly name: string
  /** The file of `examples/frameworks`, and what follows the port. */
  readonly file: string
  readonly words?: readonly string[]
  readonly says: string
  /** What it asks, and the answer. */
  readonly asks?: readonly [question: string, answer: string]
  readonly ends: RegExp
}

const library = { says: 'Where is it?', asks: ['Which floor?', 'three'], ends: /The book is on floor three\./ } as const
const rows: readonly Row[] = [
  { name: 'the Python SDK over JSON-RPC', file: 'python_sdk', ...library },
  { name: 'the Python SDK over HTTP+JSON', file: 'python_sdk', words: ['HTTP+JSON'], ...library },
  { name: 'Google’s ADK, with a tool', file: 'adk_agent', says: 'Tomorrow?', ends: /It will be sunny in Vienna\./ },
  {
    name: 'LangGraph, which is interrupted for a person',
    file: 'langgraph_agent',
    says: 'trains',
    asks: ['How many pages?', '12'],
    ends: /A report of 12 pages about trains\./,
  },
  {
    name: 'Pydantic AI, by FastA2A',
    file: 'pydantic_ai_agent',
    says: 'the train',
    ends: /In German: the train heißt Zug\./,
  },
  {
    name: 'Strands, which speaks 0.3 alone and is refused with that',
    file: 'strands_agent',
    says: 'Hello',
    ends: /it speaks A2A 0\.3\.0, and this server calls 1\.0 alone/,
  },
]

const given = process.env['WITAN_FRAMEWORK_PYTHONS'] ?? assert.fail('npm run test:frameworks names the interpreters')
const pythons: Readonly<Record<string, string>> = JSON.parse(given)

interface Started {
  readonly port: number
  readonly child: ChildProcess
  /** What it wrote to its errors, shown only if it does not start. */
  readonly said: string[]
}

/** Waits until an agent shows its card. Frameworks take seconds to load. */
async function isUp({ port, child, said }: Started): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    assert.equal(child.exitCode, null, `it ended while it started: ${said.join('').slice(-2000)}`)
    const reply = await fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`).catch(() => null)
    if (reply?.ok === true) return
    await sleep(200)
  }
  assert.fail('it did not start within four minutes')
}

describe('an agent of another framework', { concurrency: true }, () => {
  const started: Started[] = []
  before(async () => {
    for (const { file, words = [] } of rows) {
      const port = await freePort()
      const path = fileURLToPath(new URL(`../../examples/frameworks/${file}.py`, import.meta.url))
      const child = spawn(pythons[file] ?? file, [path, String(port), ...words], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const said: string[] = []
      child.stderr?.on('data', (piece) => said.push(String(piece)))
      started.push({ port, child, said })
    }
    await Promise.all(started.map(isUp))
  })
  after(() => {
    for (const { child } of started) child.kill('SIGKILL')
  })

  for (const [index, { name, says, asks, ends }] of rows.entries())
    test(name, async () => {
      const port = started[index]?.port ?? 0
      const runtime = runtimeOf(port)
      try {
        const { run } = await runtime.start({ agent: 'desk', prompt: says })
        const first = await run?.result
        assert.ok(run != null && first !== undefined)
        if (asks === undefined) return assert.match(first.text, ends)
        const [open] = first.interruptions
        assert.equal(open?.kind === 'question' ? open.questions[0]?.text : JSON.stringify(first), asks[0])
        await runtime.answerInterruption(open?.id ?? '', { answer: { input: { text: asks[1] } } })
        assert.match((await (await runtime.followRun(run.runId)).result).text, ends)
      } finally {
        await runtime.close()
      }
    })
})

/** A desk whose only remote is the agent at that port. */
function runtimeOf(port: number): Runtime {
  const model = scriptedModel(
    (request) => toolResults(request)[0] ?? call('other', { message: lastUserMessage(request) }),
    { id: 'script/desk' },
  )
  const card = `http://127.0.0.1:${port}/.well-known/agent-card.json`
  return createRuntime({
    domains: { 'desk.test': 'default' },
    federation: { resolve: { [`127.0.0.1:${port}`]: `http://127.0.0.1:${port}` } },
    models: { 'script/desk': model },
    agents: [{ id: 'desk', model: 'script/desk', instructions: 'Ask.', remotes: [{ name: 'other', card }] }],
  })
}
