import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeNodes } from './graph-layout.ts'

function places(edges: readonly string[], root: string) {
  const pairs = edges.map((edge) => edge.split('>'))
  const ids = [...new Set([root, ...pairs.flat()])]
  const graph = { nodes: ids.map((id) => ({ id })), edges: pairs.map(([from = '', to = '']) => ({ from, to })) }
  return placeNodes(graph, root)
}

const layers = (edges: readonly string[], root: string) =>
  Object.fromEntries(places(edges, root).map((place) => [place.id, place.layer]))

test('an agent stands behind everybody who calls it', () => {
  assert.deepEqual(layers(['a>b', 'a>c', 'c>d', 'b>d', 'a>d'], 'a'), { a: 0, b: 1, c: 1, d: 2 })
})

test('a cycle and a self reference end, with the root in front', () => {
  assert.deepEqual(layers(['a>b', 'b>c', 'c>a', 'b>b'], 'a'), { a: 0, b: 1, c: 2 })
})

test('nobody shares a place, and a layer is centred', () => {
  const found = places(['a>b', 'a>c', 'a>d', 'd>e', 'b>f'], 'a')
  assert.equal(new Set(found.map((place) => `${place.layer} ${place.offset}`)).size, found.length)
  const middle = found.filter((place) => place.layer === 1).map((place) => place.offset)
  assert.deepEqual(middle.sort(), [-1, 0, 1])
})

test('children stand in the order of their parents', () => {
  const found = new Map(places(['a>b', 'a>c', 'c>y', 'b>x'], 'a').map((place) => [place.id, place.offset]))
  const order = (one: string, other: string) => Math.sign((found.get(one) ?? 0) - (found.get(other) ?? 0))
  assert.equal(order('b', 'c'), order('x', 'y'))
})

test('an edge to a node that is not listed is passed over', () => {
  const graph = { nodes: [{ id: 'a' }], edges: [{ from: 'a', to: 'gone' }] }
  assert.deepEqual(placeNodes(graph, 'a'), [{ id: 'a', layer: 0, offset: 0 }])
})
