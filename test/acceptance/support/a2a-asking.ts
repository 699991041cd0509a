/** What A2A asks of a server about versions, credentials, parameters, JSON and the card. */
import assert from 'node:assert/strict'
import { boundClient } from './a2a-bound.ts'
import { message } from './a2a.ts'
import { type Requirement, card, ended, next, reasonOf, stageNow, value } from './a2a-requirement.ts'

export const asking: readonly Requirement[] = [
  {
    ...{ section: '3.6.2', level: 'MUST', says: 'another version than 1.0 is refused, and none means 0.3' },
    async check(at) {
      for (const version of ['0.3', '1.1', '2.0', ''])
        assert.equal(
          await reasonOf(at.ask('ListTasks', {}, { 'a2a-version': version })),
          'VERSION_NOT_SUPPORTED',
          version,
        )
    },
  },
  {
    ...{ section: '3.6', level: 'MUST', says: 'the patch number of a version does not count' },
    async check(at) {
      for (const version of ['1.0.0', '1.0.1', ' 1.0 '])
        value(await at.ask('ListTasks', {}, { 'a2a-version': version }))
      for (const version of ['1.0.', '1.0.x', '1.00', '1.0.1.1'])
        assert.equal(
          await reasonOf(at.ask('ListTasks', {}, { 'a2a-version': version })),
          'VERSION_NOT_SUPPORTED',
          version,
        )
    },
  },
  {
    ...{
      section: '3.2.6, 4.6.3',
      level: 'SHOULD',
      says: 'an extension that the agent does not know is ignored, and those that it uses are named',
    },
    async check(at) {
      const known = 'https://witan.dev/ns/a2a/idempotent/v1'
      const { headers, reason } = await at.ask(
        'ListTasks',
        {},
        { 'A2A-Extensions': `https://x.example/ext/v9, ${known}` },
      )
      assert.deepEqual([reason, headers.get('a2a-extensions')], [null, known])
    },
  },
  {
    ...{ section: '3.3.2', level: 'MUST', says: 'a credential that is missing or wrong is refused, with a challenge' },
    async check(at) {
      for (const token of [null, 'wrong']) {
        const { http, headers, problem } = await boundClient(stageNow(), {
          binding: at.binding,
          path: '/a2a/docs',
          token,
        }).ask('ListTasks')
        assert.deepEqual([http, problem, headers.get('www-authenticate')], [401, 'UNAUTHENTICATED', 'Bearer'])
      }
    },
  },
  {
    ...{
      section: '3.3.2, 5.7',
      level: 'MUST',
      says: 'parameters are checked, and an error names the one that is wrong',
    },
    async check(at) {
      const good = message('x')
      const table: readonly (readonly [string, object])[] = [
        ['message', {}],
        ['messageId', { message: { ...good, messageId: '' } }],
        ['role', { message: { ...good, role: undefined } }],
        ['parts', { message: { ...good, parts: [] } }],
        ['parts[0]', { message: { ...good, parts: [{ text: 'a', url: 'https://x.example' }] } }],
        ['historyLength', { message: good, configuration: { historyLength: -1 } }],
        ['returnImmediately', { message: good, configuration: { returnImmediately: 'yes' } }],
      ]
      for (const [name, params] of table) {
        const { reason, says } = await at.ask('SendMessage', params)
        assert.equal(reason, 'INVALID_PARAMS', name)
        assert.ok(says.includes(name), says)
      }
    },
  },
  {
    ...{ section: '5.7', level: 'SHOULD', says: 'a field that is not known is ignored' },
    async check(at) {
      next({ text: 'ok' })
      const params = { message: { ...message('x'), later: { a: 1 } }, configuration: { later: true }, later: [] }
      value(await at.ask('SendMessage', params))
    },
  },
  {
    ...{
      section: '5.5, 5.6.1',
      level: 'MUST',
      says: 'names are in camel case, states as in the definition, times in UTC with milliseconds',
    },
    async check(at) {
      const { text } = await at.ask('GetTask', { id: (await ended(at)).id })
      assert.doesNotMatch(text, /"[a-z]+_[a-z]+"\s*:/)
      assert.match(text, /"state":"TASK_STATE_COMPLETED","timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/)
    },
  },
  {
    ...{ section: '9.3, 11.3', level: 'MUST', says: 'a method that does not exist is refused as such' },
    async check(at) {
      assert.equal(await reasonOf(at.ask('NoSuchMethod')), 'METHOD_NOT_FOUND')
    },
  },
  {
    ...{
      section: '8.1, 8.3, 4.4.1',
      level: 'MUST',
      says: 'the card has all that it must have, and names both bindings with their paths',
    },
    async check(at) {
      const given = await card()
      for (const name of [
        'name',
        'description',
        'version',
        'supportedInterfaces',
        'capabilities',
        'defaultInputModes',
        'defaultOutputModes',
        'skills',
      ])
        assert.ok(given[name] !== undefined, name)
      const interfaces = given['supportedInterfaces'] as {
        url: string
        protocolBinding: string
        protocolVersion: string
      }[]
      const own = interfaces.find(({ protocolBinding }) => protocolBinding === at.binding)
      const path = at.binding === 'JSONRPC' ? '/a2a/docs' : '/a2a/docs/v1'
      assert.deepEqual([new URL(own?.url ?? '').pathname, own?.protocolVersion], [path, '1.0'])
      const [skill] = given['skills'] as { id: string; name: string; description: string; tags: string[] }[]
      assert.ok(skill && skill.id !== '' && skill.name !== '' && skill.description !== '' && skill.tags.length > 0)
    },
  },
  {
    ...{ section: '8.6.1', level: 'SHOULD', says: 'the card may be kept: Cache-Control, ETag, Last-Modified, and 304' },
    async check() {
      const path = '/a2a/docs/.well-known/agent-card.json'
      const { headers } = await stageNow().witan.call('GET', path)
      assert.match(headers.get('cache-control') ?? '', /max-age=\d+/)
      assert.ok(headers.get('last-modified') !== null)
      const again = await stageNow().witan.call('GET', path, {
        headers: { 'if-none-match': headers.get('etag') ?? '' },
      })
      assert.equal(again.status, 304)
    },
  },
]
