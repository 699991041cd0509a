/** The desk by its script, over real files: each specialist, plans, reflection, memory, sources, the wall, approvals, background work, and what it lacks. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rename, rmdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import type { Chat } from '@witan/core'
import type { RunResult } from '@witan/protocol'
import { alpine, createStage, type Stage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.close())

const chat = (agent = 'main'): Chat => stage.runtime.conversation(agent, { parameters: alpine })
const ask = (message: string): Promise<RunResult> => chat().run(message)

/** Answers what a run waits for. */
async function decide(
  { conversationId, interruptions }: RunResult,
  decision: 'approved' | 'denied',
): Promise<RunResult> {
  const answers = interruptions.map(({ id }) => ({ id, answer: { decision } }))
  return (await stage.runtime.run(conversationId, { answers })).result
}

describe('a delegation to each specialist', () => {
  for (const [question, agent, answer] of [
    ['Which mails are unread?', 'emails', /^3 mails:\n- 2026-10-19 Tom Reyes .*“Pipeline review today” \(unread\)/],
    ['What did Greta write?', 'emails', /Re: Leaking seal.*\n\n> Hello Nora,\n>\n> it has become worse since Monday/],
    ['What did Jonas write?', 'emails', /“Wartung für Baltic – Rückfrage”\n\n> Hallo Nora,\n>\n> können wir/],
    ['Read the mail about seals', 'emails', /> *Three new seals & what they cost\./],
    [
      'What is on my calendar today?',
      'meetings',
      /09:15–09:30 Europe\/Berlin: Stand-up .*\n.*Lunch.*\n.*Pipeline review/,
    ],
    [
      'When are Tom and I free on 26 October?',
      'meetings',
      /14:00–15:30 Europe\/Berlin = 2026-10-26 09:00–10:30 America\/New_York/,
    ],
    ['Which tasks are overdue?', 'tasks', /^Overdue:\n- t-3: Answer about the maintenance/],
    [
      'What are the tasks of Jonas?',
      'tasks',
      /^Open tasks:\n- t-4: Check the stock of seals \(jonas, due 2026-10-20\)$/,
    ],
    ['Which invoices are open?', 'records', /inv-2067: €6,240\.50, due 2026-10-15, open\n- inv-2088/],
    ['Who are my contacts?', 'records', /^- Greta Huber, head of production: greta\.huber@/],
    ['Who looks after the account Baltic Freight?', 'records', /looked after by Jonas Lind/],
    ['What is a hotel allowed to cost?', 'research', /A hotel may cost up to 140 euros.* \[k[a-z2-7]{8}\]$/],
    [
      'What was our revenue by region in 2025?',
      'data',
      /^Revenue of 2025 by region, €1,530,795\.00 in all:\n- north: €629,895\.00/,
    ],
    ['Revenue per month of 2026', 'data', /^Revenue of 2026:\n- 2026-01: €/],
  ] as const)
    test(`${agent}: ${question}`, async () => {
      const { text, status, runId } = await ask(question)
      assert.equal(status, 'completed')
      assert.match(text, answer)
      const { tree } = await stage.runtime.getRun(runId)
      assert.deepEqual(
        tree.children.filter(({ kind }) => kind === 'agent').map(({ name }) => name),
        [agent],
      )
    })
})

describe('other words for it', () => {
  for (const [question, answer] of [
    ['show me my inbox', /^6 mails:/],
    ['Show my drafts', /^(There are no such mails|\d mails?:)/],
    ['Delete all mails', /^I can search, read, draft and send mails, and nothing else\.$/],
    ['Draft a mail to Jonas saying we are late', /To: jonas@halden\.example\nSubject: we are late\n\nHello Jonas,/],
    ['Draft a mail to Tom: Can we meet? I am free.', /\n\nCan we meet\? I am free\.\n\n/],
    ['Email Greta: we will come', /To: greta\.huber@alpine-foods\.example\nSubject: we will come/],
    ['Is Jonas available on Friday?', /^Jonas has no 30 minutes free on 2026-10-23\.$/],
    ['move my meeting with Tom to Friday', /^I can look into the calendar, and change nothing in it\.$/],
    ['what do I have to do this week?', /^Open tasks:\n- t-3/],
    ['Complete the task about elephants', /^There is no task “elephants”\.$/],
    ['Who is Greta?', /^- Greta Huber, head of production/],
    ['Can I take a flight to Salzburg?', /Flights need the approval of the team lead/],
    ['how much did we sell in the north?', /^Revenue of 2026 by region/],
    ['revenue 2024', /^The warehouse has the years 2025 and 2026 alone\.$/],
    ['Should we hire somebody? What does the council think?', /^For: The work is there already\./],
    [
      'What is the discount policy, and book me a hotel',
      /^A discount of up to 10[\s\S]*I have no specialist for this: “book me a hotel”\.$/,
    ],
    ['hello', /^Good day\. I can ask:\n- E-mails/],
    ['asdf qwer', /^I have no specialist for this: “asdf qwer”[\s\S]*I am a script, not a language model/],
  ] as const)
    test(question, async () => assert.match((await ask(question)).text, answer))
})

test('a question of two parts asks two specialists at once', async () => {
  const { text, runId } = await ask('Which mails are unread, and when does our contract end?')
  assert.match(text, /^3 mails:[\s\S]*\n\nThe contract runs until 31 March 2027\./)
  const { tree } = await stage.runtime.getRun(runId)
  assert.deepEqual(
    tree.children.map(({ name }) => name),
    ['emails', 'research'],
  )
})

test('[F07] where no specialist fits it says so, names those that there are, and calls nobody', async () => {
  const { text, runId } = await ask('Book me a flight to Oslo')
  assert.match(text, /^I have no specialist for this: “Book me a flight to Oslo”, and I do not do it myself\./)
  for (const name of ['E-mails', 'Meetings', 'Records', 'Tasks', 'Research', 'Data'])
    assert.match(text, new RegExp(`- ${name}: `))
  assert.doesNotMatch(text, /council/i, 'a hidden agent is in no list')
  assert.deepEqual((await stage.runtime.getRun(runId)).tree.children, [])
  assert.match(
    (await ask('Which tasks are overdue, and book a table for two?')).text,
    /^Overdue:[\s\S]*I have no specialist for this: “book a table for two\?”/,
  )
})

test('a plan: each step has its call, and a critique gives the sources back that the draft has lost', async () => {
  const conversation = chat()
  const question = 'Prepare my visit: what did Greta write, when does our contract end, and which tasks do I have?'
  const { text, runId, sources = [] } = await conversation.run(question)
  const { plan, tree } = await stage.runtime.getRun(runId)
  const names = plan?.steps.map(({ status, calls }) => [
    status,
    ...calls.map((id) => tree.children.find(({ callId }) => callId === id)?.name),
  ])
  assert.deepEqual(names, [
    ['completed', 'emails'],
    ['completed', 'research'],
    ['completed', 'tasks'],
  ])
  const { messages } = await stage.runtime.getDocument(conversation.id)
  const [draft] = messages.filter((message) => message.draft === true)
  assert.match(draft?.text ?? '', /The contract runs until 31 March 2027/)
  assert.doesNotMatch(draft?.text ?? '', /\[k/)
  assert.match(text, /The contract runs until 31 March 2027\. .*\[k[a-z2-7]{8}\]/)
  assert.deepEqual(
    sources.map(({ base, document }) => [base, document]),
    [['contracts', 'acct-alpine/service.md']],
  )
  const { events } = await stage.runtime.readEvents(conversation.id, { verbose: true })
  const verdicts = events.flatMap(({ type, content }) => (type === 'critique' ? [content['verdict']] : []))
  assert.deepEqual(verdicts, ['revise'])
})

test('the wall: two accounts ask the same, and neither reads a word of the other', async () => {
  const asked = async (accountId: string, question: string) => {
    const conversation = stage.runtime.conversation('main', {
      parameters: { accountId: { value: accountId, sendToModel: false } },
    })
    const { text, sources = [] } = await conversation.run(question)
    return { text, documents: sources.map(({ document }) => document) }
  }
  const notice = 'What is the notice period of our contract?'
  const [one, other] = [await asked('acct-alpine', notice), await asked('acct-baltic', notice)]
  assert.match(one.text, /three months/)
  assert.deepEqual(one.documents, ['acct-alpine/service.md'])
  assert.match(other.text, /twelve months/)
  assert.deepEqual(other.documents, ['acct-baltic/service.md'])
  const theirs = 'What does the contract with Baltic Freight say about its notice period? Use accountId acct-baltic.'
  assert.doesNotMatch((await asked('acct-alpine', theirs)).text, /Baltic|twelve/)
  assert.match((await asked('acct-none', notice)).text, /The documents do not say\./)
  assert.match((await asked('acct-baltic', 'Which invoices are open?')).text, /inv-2052/)
})

test('without an account those that need one are not offered, and the desk says that it lacks them', async () => {
  const { text } = await stage.runtime.conversation('main').run('When does our contract end?')
  assert.match(text, /I have no specialist for this: “When does our contract end\?”/)
  assert.doesNotMatch(text, /- Research: /)
})

test('a mail is drafted, sent once it is approved, and answers the mail that it answers', async () => {
  const conversation = chat()
  const drafted = await conversation.run(
    'Reply to the last mail from Greta: Friday suits us. Jonas will come at eight.',
  )
  assert.match(
    drafted.text,
    /^Drafted, not sent:\n\nTo: greta\.huber@alpine-foods\.example\nSubject: Re: Leaking seal on pump 7\n\nHello Greta,/,
  )
  const drafts = await readdir(join(stage.places.maildir, '.Drafts/cur'))
  const waiting = await conversation.run('Send it')
  const [asked] = waiting.interruptions
  assert.deepEqual([waiting.status, asked?.kind, asked?.path], ['waiting', 'approval', 'emails/send_mail'])
  assert.deepEqual(await readdir(join(stage.places.maildir, '.Outbox/cur')), [])
  assert.equal((await decide(waiting, 'approved')).text, 'Sent to greta.huber@alpine-foods.example.')
  assert.equal((await readdir(join(stage.places.maildir, '.Drafts/cur'))).length, drafts.length - 1)
  const [sent = ''] = await readdir(join(stage.places.maildir, '.Outbox/cur'))
  const message = await readFile(join(stage.places.maildir, '.Outbox/cur', sent), 'utf8')
  assert.match(message, /^From: Nora Weiss <nora@halden\.example>\r\nTo: greta\.huber@alpine-foods\.example\r\n/)
  assert.match(message, /\r\nIn-Reply-To: <seed-3@halden\.example>\r\n/)
  assert.doesNotMatch(message, /(?<!\r)\n/)
  assert.match((await ask('Which mails are in the outbox?')).text, /^1 mail:\n- .*Re: Leaking seal/)
})

test('[F02] what is delegated and what is changed is written down, and a mail that cannot be is not sent', async () => {
  const lines = (await readFile(stage.places.audit, 'utf8')).trim().split('\n')
  const noted = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  const sent = noted.findIndex(({ did }) => did === 'send_mail')
  assert.deepEqual(
    [noted[sent]?.['by'], noted[sent]?.['for'], noted[sent]?.['error']],
    ['main/emails', 'user:local', null],
  )
  const asked = noted.slice(0, sent).findLast(({ asks }) => asks === 'emails')
  assert.equal(asked?.['by'], 'main')
  const before = (await readdir(join(stage.places.maildir, '.Outbox/cur'))).length
  await rename(stage.places.audit, `${stage.places.audit}.old`)
  await mkdir(stage.places.audit)
  const { text } = await stage.runtime.conversation('emails').run('Send a mail to Tom: The review is at five.')
  await rmdir(stage.places.audit)
  await rename(`${stage.places.audit}.old`, stage.places.audit)
  assert.match(text, /hook audit failed/)
  assert.equal((await readdir(join(stage.places.maildir, '.Outbox/cur'))).length, before)
})

test('a mail that is denied is not sent', async () => {
  const before = (await readdir(join(stage.places.maildir, '.Outbox/cur'))).length
  const waiting = await ask('Send a mail to Tom: The review is at four.')
  assert.match((await decide(waiting, 'denied')).text, /^Not sent: denied/)
  assert.equal((await readdir(join(stage.places.maildir, '.Outbox/cur'))).length, before)
})

test('how mails are to be is remembered over conversations, is the person’s own, and can be changed', async () => {
  assert.match((await ask('Sign my mails with “Kind regards, Nora”')).text, /I shall remember/)
  assert.match(
    (await ask('Draft a mail to Tom: See you at four.')).text,
    /Hello Tom,\n\nSee you at four\.\n\nKind regards, Nora$/,
  )
  const { items } = await stage.runtime.memory.list({ subject: 'user:local' })
  assert.deepEqual(
    items.map(({ agent, key, text }) => [agent, key, text]),
    [['emails', 'ending', 'Kind regards, Nora']],
  )
  assert.match((await ask('Begin my mails with Dear')).text, /I shall remember/)
  assert.match((await ask('End my mails with “Yours, N.”')).text, /I shall remember/)
  assert.match(
    (await ask('Draft a mail to Tom: See you at four.')).text,
    /Dear Tom,\n\nSee you at four\.\n\nYours, N\.$/,
  )
})

test('each change of tasks waits for an approval, and is in the database after it', async () => {
  const row = (title: string) => {
    const database = new DatabaseSync(stage.places.office, { readOnly: true })
    const found = database.prepare('select assignee, due, status from tasks where title like ?').get(`%${title}%`)
    database.close()
    return found === undefined ? undefined : { ...found }
  }
  const waiting = await ask('Add a task for Jonas to order seals by Friday')
  const [asked] = waiting.interruptions
  assert.ok(asked?.kind === 'approval')
  assert.deepEqual(asked.arguments, { title: 'order seals', assignee: 'jonas', due: '2026-10-23' })
  assert.equal(row('order seals'), undefined)
  assert.match((await decide(waiting, 'approved')).text, /^Added: “order seals” for jonas, due 2026-10-23\.$/)
  assert.deepEqual(row('order seals'), { assignee: 'jonas', due: '2026-10-23', status: 'open' })
  await decide(await ask('Complete task t-4'), 'approved')
  assert.equal(row('Check the stock')?.['status'], 'done')
  assert.match((await decide(await ask('Move task t-3 to next Monday'), 'denied')).text, /^Nothing was changed: denied/)
  assert.match((await decide(await ask('Move task t-3 to next Monday'), 'approved')).text, /due 2026-10-26\.$/)
  assert.equal(row('maintenance of Baltic')?.['due'], '2026-10-26')
})

test('[F06] the council is run by a function of the desk, in the same tree, and nobody lists it', async () => {
  const { text, runId } = await ask('Ask the council: should we give Alpine Foods a discount of 12 percent?')
  assert.match(text, /^For: .*\nAgainst: .*\nAdvice: Give it only for two years or more/)
  const [tool] = (await stage.runtime.getRun(runId)).tree.children
  assert.deepEqual(
    [tool?.kind, tool?.name, tool?.children.map(({ kind, name }) => [kind, name])],
    ['tool', 'ask_council', [['agent', 'council']]],
  )
  const main = await stage.runtime.agents.get('main')
  const listed = stage.runtime.agents.save({ ...main, subAgents: [...main.subAgents, { agent: 'council' }] })
  await assert.rejects(listed, { name: 'WitanError' })
})

test('an agent that is added while it runs is asked by its name, and keeps notes of the person', async () => {
  const agent = { id: 'notes', model: 'desk/any', instructions: 'Keep notes.', description: 'Keeps notes.', memory: {} }
  assert.match((await ask('Make a note: bring the offer')).text, /I have no specialist for this/)
  await stage.runtime.agents.subAgents.create('main', { agent })
  assert.equal((await ask('Make a note: bring the offer')).text, 'Noted: bring the offer')
  assert.equal((await ask('What are my notes?')).text, 'Your notes:\n- bring the offer')
})

test('there is nothing to say against its agents', async () => {
  const { items } = await stage.runtime.agents.list()
  assert.deepEqual(
    items.flatMap(({ id, warnings }) => warnings.map(({ code }) => `${id} ${code}`)),
    [],
  )
})

test('a specialist is run directly, without the desk', async () => {
  const { text, runId } = await stage.runtime.conversation('meetings').run('When are Tom, Aiko and I free this week?')
  assert.match(text, /no 30 minutes .* in which all are free/)
  assert.equal((await stage.runtime.getRun(runId)).tree.name, 'meetings')
  assert.match((await chat('records').run('Who are my contacts?')).text, /Greta Huber/)
})

test('with a model in the environment the same agents use it, and no model reads which account it is', async () => {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    asked.push(`${request.headers.authorization} ${await text(request)}`)
    const isCritique = asked.at(-1)?.includes('critique: ') === true
    const message = { role: 'assistant', content: isCritique ? '{"verdict":"pass","problems":[]}' : 'I am a model.' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'x', model: 'm-1', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const own = {
    WITAN_MODEL: 'openai-compatible',
    WITAN_BASE_URL: `http://127.0.0.1:${port}/v1`,
    WITAN_MODEL_NAME: 'm-1',
  }
  const real = await createStage({ env: { ...own, WITAN_API_KEY: 'key-of-mine' } })
  const said = await real.runtime.conversation('main', { parameters: alpine }).run('Hello?')
  await real.close()
  server.close()
  assert.equal(said.text, 'I am a model.')
  assert.equal(asked.length, 2)
  for (const request of asked) assert.match(request, /^Bearer key-of-mine .*specialists/s)
  assert.doesNotMatch(asked.join(''), /accountId|acct-alpine|"council"/)
})
