/** `witan conversations prompts`: what the models of a conversation were asked. */
import type { Client } from '@witan/client'
import type { ModelCall, ModelCallLine } from '@witan/protocol/schemas'
import { type Command, connectionOptions, type Given, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { printList } from '../listing.ts'
import { print, printJson, printText, type Terminal } from '../terminal.ts'
import { count, duration, plural } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'

/** Lists the model calls of a conversation, or prints one. */
export const promptsCommand: Command = {
  name: 'conversations prompts',
  summary: 'List what the models of a conversation were asked, or print one request and its reply.',
  operands: [{ name: 'ID' }, { name: 'N', optional: true }],
  options: {
    run: { value: 'RUN', help: 'In the list: only those of this run.' },
    call: { value: 'CALL', help: "In the list: only those of this agent's call." },
    ...jsonOption,
    ...connectionOptions,
  },
  examples: ['witan conversations prompts chats/1', 'witan conversations prompts chats/1 41'],
  run: (given, terminal) =>
    connected(given, terminal, (client) => (given.operands[1] === undefined ? list : one)(client, given, terminal)),
}

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [id = ''] = given.operands
  const [run, call] = [given.text('run'), given.text('call')]
  const query = { limit: 200, ...(run === undefined ? {} : { run }), ...(call === undefined ? {} : { call }) }
  const items: ModelCallLine[] = []
  for await (const line of client.conversations.modelCalls.all(id, query)) items.push(line)
  printList(terminal, given, {
    items,
    columns: [
      { title: 'N', tone: 'strong' },
      { title: 'AGENT' },
      { title: 'CALL' },
      { title: 'FOR' },
      { title: 'STATUS' },
      { title: 'MODEL' },
      { title: 'MESSAGES' },
      { title: 'TOKENS' },
      { title: 'TIME' },
      { title: 'NOTE', tone: 'faint' },
    ],
    cells: (line) => [
      line.id,
      line.agentPath,
      String(line.number),
      line.purpose,
      line.status,
      line.model,
      line.sameAsBefore === 0 ? String(line.messages) : `${line.messages}, ${line.sameAsBefore} as before`,
      tokensOf(line),
      timeOf(line),
      notesOf(line).join('; '),
    ],
    none: 'No model was asked in this conversation.',
  })
}

function tokensOf({ usage }: ModelCallLine): string {
  if (usage === null) return ''
  const { inputTokens, outputTokens } = usage
  return `${inputTokens === null ? '?' : count(inputTokens)} → ${outputTokens === null ? '?' : count(outputTokens)}`
}

function timeOf({ startedAt, endedAt }: ModelCallLine): string {
  return startedAt === null || endedAt === null ? '' : duration(Date.parse(endedAt) - Date.parse(startedAt))
}

/** What a reader of a request must know of it. */
function notesOf({ exact, changed = [], masked, tries, error }: ModelCallLine): string[] {
  return [
    ...(exact === false ? [`not as it was asked: ${changed.join(', ')} changed since`] : []),
    ...(masked ? ['hidden values are masked'] : []),
    ...(tries > 1 ? [`asked ${tries} times`] : []),
    ...(error === null ? [] : [`${error.code}: ${error.detail}`]),
  ]
}

async function one(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [id = '', number = ''] = given.operands
  const found = await client.conversations.modelCalls.get(id, number)
  if (given.has('json')) return printJson(terminal, found)
  const { agentPath, purpose, status, model, request, reply } = found
  print(terminal, [
    { text: `model call ${oneLine(found.id)}`, tone: 'strong' },
    {
      text: `  ${[agentPath, purpose, status, model, tokensOf(found), timeOf(found)].filter(Boolean).join('  ')}`,
      tone: 'faint',
    },
  ])
  for (const note of notesOf(found)) print(terminal, [{ text: `  ${note}`, tone: 'wait' }])
  if (request !== null) printRequest(terminal, request, found.leftOut ?? 0)
  if (reply === null) return
  heading(terminal, 'reply')
  if (reply.reasoning !== null) part(terminal, `[reasons] ${reply.reasoning}`)
  part(terminal, reply.text)
  for (const { name, arguments: written } of reply.toolCalls) part(terminal, `calls ${name} ${written}`)
}

function printRequest(terminal: Terminal, request: NonNullable<ModelCall['request']>, leftOut: number): void {
  const { messages, tools, toolChoice, temperature, reasoningEffort, maxOutputTokens, output } = request
  if (leftOut > 0) print(terminal, [{ text: `  ${plural(leftOut, 'older message')} left out: too long`, tone: 'wait' }])
  for (const message of messages) {
    heading(terminal, message.role === 'tool' ? `result of ${message.name}` : message.role)
    part(terminal, message.content)
    for (const { name, arguments: written } of message.toolCalls ?? []) part(terminal, `calls ${name} ${written}`)
    for (const { name, mediaType, bytes } of message.attached ?? [])
      part(terminal, `file ${name ?? ''} ${mediaType}, ${plural(bytes, 'byte')}`)
    if (message.kept !== undefined) part(terminal, `${plural(message.kept.bytes, 'byte')} that only its model reads`)
  }
  if (tools.length > 0) heading(terminal, 'tools')
  for (const { name, description, parameters } of tools)
    part(terminal, `${name}: ${description}\n  ${JSON.stringify(parameters)}`)
  heading(terminal, 'settings')
  const settings = { toolChoice, temperature, reasoningEffort, maxOutputTokens, output: output?.name ?? null }
  const set = Object.entries(settings).filter(([, value]) => value !== null)
  part(terminal, set.map(([name, value]) => `${name} ${value}`).join(', '))
}

function heading(terminal: Terminal, text: string): void {
  print(terminal)
  print(terminal, [{ text, tone: 'strong' }])
}

/** A text as it stands, each of its lines below the heading. */
function part(terminal: Terminal, text: string): void {
  if (text !== '') printText(terminal, `  ${text.replaceAll('\n', '\n  ')}`)
}
