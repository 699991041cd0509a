/** `witan resolve`: finds an agent on another server, and prints each step of the way. */
import { createSafeFetch, type DiscoveryStep, resolveAddress } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import { readAddress } from '@witan/protocol/names'
import { type Command, configOption, type Given, jsonOption } from '../command.ts'
import { type ExitCode, exitCodes, UsageError } from '../exit.ts'
import { readConfig } from '../loading.ts'
import { print, printJson, printProse, type Terminal } from '../terminal.ts'
import { oneLine } from '../tree/width.ts'

export const resolveCommand: Command = {
  name: 'resolve',
  summary: 'Find an agent on another server by its address, and print each step.',
  operands: [{ name: '@LOCAL@DOMAIN' }],
  options: { ...jsonOption, ...configOption },
  examples: ['witan resolve @docs@bots.example.com'],
  run: resolve,
}

/** The steps in their order, and what each is called. */
const steps = [
  ['webfinger', 'WebFinger'],
  ['card', 'Mentionable card'],
  ['a2a-card', 'A2A card'],
  ['interface', 'interface'],
  ['signature', 'signature'],
] as const
const width = Math.max(...steps.map(([, name]) => name.length))

async function resolve(given: Given, terminal: Terminal): Promise<ExitCode> {
  const [word = ''] = given.operands
  const read = readAddress(word)
  if (!read.ok)
    throw new UsageError(
      `"${oneLine(word.slice(0, 200))}" is no address: ${read.problem}.`,
      'Write one such as @docs@bots.example.com.',
    )
  const { federation } = await readConfig(given, terminal)
  const fetch = createSafeFetch({ resolve: federation.resolve })
  const done: DiscoveryStep[] = []
  const isJson = given.has('json')
  const note = (step: DiscoveryStep): void => {
    done.push(step)
    if (!isJson) printStep(terminal, step)
  }
  try {
    const { address, name, endpoint, signedBy } = await resolveAddress(read.address, { fetch, note })
    if (isJson) printJson(terminal, { ok: true, address: address.text, name, endpoint, signedBy, steps: done })
    return exitCodes.done
  } catch (error) {
    if (!isWitanError(error)) throw error
    const { code, message, hint } = error
    const [failed, called] = steps[done.length] ?? ['signature', 'signature']
    if (isJson)
      printJson(terminal, {
        ok: false,
        address: read.address.text,
        steps: done,
        failed,
        error: { code, detail: message, hint },
      })
    else {
      printLine(terminal, { mark: '✗', tone: 'bad', name: called, text: `${code}: ${message}` })
      if (hint !== null) printProse(terminal, [{ text: `  → ${oneLine(hint)}`, tone: 'faint' }], { indent: 4 })
    }
    return exitCodes.failed
  }
}

function printStep(terminal: Terminal, { step, url, found }: DiscoveryStep): void {
  const name = steps.find(([id]) => id === step)?.[1] ?? step
  printLine(terminal, { mark: '✓', tone: 'good', name, text: url })
  print(terminal, [
    { text: `  ${' '.repeat(width)}  → `, tone: 'faint' },
    { text: oneLine(found), tone: 'plain' },
  ])
}

interface StepLine {
  readonly mark: string
  readonly tone: 'good' | 'bad'
  readonly name: string
  readonly text: string
}

function printLine(terminal: Terminal, { mark, tone, name, text }: StepLine): void {
  printProse(
    terminal,
    [
      { text: `${mark} `, tone },
      { text: `${name.padEnd(width)}  `, tone: 'strong' },
      { text: oneLine(text), tone: 'plain' },
    ],
    { indent: width + 4 },
  )
}
