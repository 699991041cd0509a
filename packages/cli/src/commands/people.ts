/** `witan conversations people`: who takes part, who joins and who leaves. */
import type { Client } from '@witan/client'
import type { ConversationParticipant } from '@witan/protocol/schemas'
import { type Command, connectionOptions, type Given, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { UsageError } from '../exit.ts'
import { printList } from '../listing.ts'
import { print, type Terminal } from '../terminal.ts'
import { age } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'

/** Lists, adds or removes the people of a conversation. */
export const peopleCommand: Command = {
  name: 'conversations people',
  summary: 'List who takes part in a conversation, add a person, or remove one.',
  operands: [{ name: 'ID' }],
  options: {
    add: { value: 'PERSON', help: 'Add this person; agents may ask the person from the next run on.' },
    remove: { value: 'PERSON', help: 'Remove this person; what waits for the person is cancelled.' },
    name: { value: 'NAME', help: 'With --add: the name; default: the one that an agent gives.' },
    role: { value: 'ROLE', multiple: true, help: 'With --add: a role of the person.' },
    ...jsonOption,
    ...connectionOptions,
  },
  examples: [
    'witan conversations people chats/1',
    'witan conversations people chats/1 --add bob --name Bob --role buyer',
    'witan conversations people chats/1 --remove bob',
  ],
  run: (given, terminal) => connected(given, terminal, (client) => people(client, given, terminal)),
}

async function people(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [id = ''] = given.operands
  const [joins, leaves] = [given.text('add'), given.text('remove')]
  if (joins !== undefined && leaves !== undefined)
    throw new UsageError('A person is either added or removed.', 'Write --add PERSON or --remove PERSON.')
  if (joins === undefined && (given.has('name') || given.has('role')))
    throw new UsageError('--name and --role say who is added.', 'Add --add PERSON.')
  const { participants } = client.conversations
  if (joins !== undefined) {
    const [name, roles] = [given.text('name'), given.texts('role')]
    const more = { ...(name === undefined ? {} : { name }), ...(roles.length === 0 ? {} : { roles: [...roles] }) }
    await participants.add(id, { id: joins, ...more })
  }
  if (leaves !== undefined) await participants.remove(id, leaves)
  if (!given.has('json') && (joins ?? leaves) !== undefined)
    return print(terminal, `${oneLine(joins ?? leaves ?? '')} ${joins === undefined ? 'left' : 'takes part in'} ${id}`)
  const items: ConversationParticipant[] = []
  for await (const one of participants.all(id, { limit: 200 })) items.push(one)
  const now = Date.now()
  printList(terminal, given, {
    items,
    columns: [
      { title: 'PERSON', tone: 'strong' },
      { title: 'NAME' },
      { title: 'ROLES' },
      { title: 'JOINED' },
      { title: 'LEFT', tone: 'faint' },
    ],
    cells: (one) => [
      one.id,
      oneLine(one.name ?? ''),
      one.roles.map(oneLine).join(', '),
      age(now - Date.parse(one.joinedAt)),
      one.leftAt === null ? '' : age(now - Date.parse(one.leftAt)),
    ],
    none: 'Nobody in particular takes part. --add PERSON adds somebody.',
  })
}
