import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layoutGraph } from './graph-layout.ts'

function places(edges: readonly string[], root: string) {
  const pairs = edges.map((edge) => edge.split('>'))
  const ids = [...new Set([root, ...pairs.flat()])]
  const graph = { nodes: ids.map((id) => ({ id })), edges: pairs.map(([from = '', to = '']) => ({ from, to })) }
  return layoutGraph(graph, root).places
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
  assert.deepEqual(layoutGraph(graph, 'a').places, [{ id: 'a', layer: 0, offset: 0 }])
})

test('a line has a place of its own in every layer that it crosses, goes back through or turns in', () => {
  const edges = ['a>b', 'b>c', 'c>d', 'a>d', 'd>a', 'b>b', 'a>c'].map((edge) => edge.split('>'))
  const nodes = ['a', 'b', 'c', 'd'].map((id) => ({ id }))
  const { places: found, routes } = layoutGraph(
    { nodes, edges: edges.map(([from = '', to = '']) => ({ from, to })) },
    'a',
  )
  const layersOf = (key: string) => routes.get(key)?.map(({ layer }) => layer)
  assert.deepEqual(layersOf('a b'), [])
  assert.deepEqual(layersOf('a d'), [1, 2])
  assert.deepEqual(layersOf('a c'), [1])
  assert.deepEqual(layersOf('d a'), [3, 2, 1, 0])
  assert.deepEqual(layersOf('b b'), [1])
  const taken = [...found, ...[...routes.values()].flat()].map(({ layer, offset }) => ({ layer, offset }))
  for (const { layer, offset } of [...routes.values()].flat())
    for (const node of found)
      assert.ok(node.layer !== layer || Math.abs(node.offset - offset) >= 0.75, `a line behind ${node.id}`)
  assert.equal(new Set(taken.map(({ layer, offset }) => `${layer} ${offset}`)).size, taken.length)
})
