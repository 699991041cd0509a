/** Findings lead to the field that they are about. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '@witan/protocol'
import { definitionFields, findingsOf, shownField } from './findings.ts'

const warning: Finding = {
  ...{ code: 'PARAM_UNUSED', severity: 'warning', agent: 'a', path: 'parameters.0', detail: 'd', hint: 'h' },
}
const error: Finding = { ...warning, code: 'MODEL_UNKNOWN', severity: 'error', path: 'model' }

test('a check tells errors first, and without one the stored warnings stand', () => {
  const agent = { id: 'a', warnings: [warning] }
  assert.deepEqual(findingsOf(agent, undefined), [warning])
  const ofAnother = { ...warning, agent: 'b' }
  assert.deepEqual(findingsOf(agent, { errors: [error], warnings: [ofAnother, warning] }), [error, warning])
  assert.deepEqual(findingsOf(agent, { errors: [], warnings: [] }), [])
})

test('every path of a finding leads to its field, or to the nearest one that it is in', () => {
  const fields = definitionFields({
    model: 'm',
    parameters: [{ name: 'userId', schema: { type: 'string' } }],
    subAgents: [{ agent: 'b', overrides: { model: ['x', 'y'] } }],
    actions: [{ name: 'act', parametersSchema: { type: 'object', properties: { a: {} } } }],
    limits: { maxCostUsd: 1 },
    workflow: null,
  })
  for (const [path, shown] of [
    ['model', 'model'],
    ['parameters.0', 'parameters.0'],
    ['subAgents.0.agent', 'subAgents.0.agent'],
    ['subAgents.0.overrides.model.1', 'subAgents.0.overrides'],
    ['actions.0.parametersSchema.properties.a', 'actions.0.parametersSchema'],
    ['limits.maxCostUsd', 'limits.maxCostUsd'],
    ['workflow.agents.0', 'workflow'],
    ['subAgents.7.agent', 'subAgents'],
    ['access.call', null],
    ['modelKind', null],
  ] as const)
    assert.equal(shownField(fields, path), shown, path)
})
