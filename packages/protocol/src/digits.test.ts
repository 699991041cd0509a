/** Numbers that JavaScript would change are read as the text of their digits, and nothing else is touched. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../test/support/seeds.ts'
import { isNumberAsText, parseExact } from './digits.ts'

const changed = [
  '9007199254740993',
  '-9007199254740993',
  '2512292042121000001',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551615',
  '1000000000000000000001',
  `1${'0'.repeat(307)}1`,
  '9'.repeat(310),
  '1e400',
  '-1E+400',
  '0.1e0400',
  '123456789012345e295',
  '1e-400',
  `0.${'0'.repeat(330)}1`,
]
const kept = [
  ...['0', '-0', '42', '-7', '123456789012345', '9007199254740991', '9007199254740992', '10000000000000000'],
  ...['2512292042121000000', '1000000000000000000000', `1${'0'.repeat(300)}`, '1e21', '1E+300', '1e-300', '5e-324'],
  ...['0.1', '-0.0', '0e999', '0.0e-999', '123456789.12345678901234', '0.30000000000000004', '9007199254740993.5'],
]

test('a number that would change is its digits, wherever it stands', () => {
  for (const number of changed) {
    assert.ok(isNumberAsText(number), number)
    for (const [text, value] of [
      [number, number],
      [` ${number}\n`, number],
      [`{"id":${number}}`, { id: number }],
      [`[1,${number},"x",${number}]`, [1, number, 'x', number]],
      [`{"a\\"":[${number} , {"b" :\t${number}}]}`, { 'a"': [number, { b: number }] }],
    ] as const)
      assert.deepEqual(parseExact(text), value, text)
  }
})

test('any other number, text and mistake is what JSON.parse makes of it', () => {
  for (const number of kept) {
    assert.equal(isNumberAsText(number), false, number)
    assert.deepEqual(parseExact(`[${number}]`), JSON.parse(`[${number}]`), number)
  }
  const strings = [
    '"9007199254740993"',
    '"a 1e400 b"',
    '{"9007199254740993":1}',
    '"\\\\\\"1e400,9007199254740993"',
    '"\\u0031e400"',
  ]
  for (const text of strings) assert.deepEqual(parseExact(text), JSON.parse(text), text)
  const wrong = [
    '{9007199254740993:1}',
    '09007199254740993',
    '[1 9007199254740993]',
    '9007199254740993.',
    '+1e400',
    '1e400e1',
    '{1e400 : 1}',
    '{"a":1,1e400\n:1}',
    '1e400"1e400"',
    '[1e400,]',
    '[1e400 x]',
    '1e400-',
    '',
  ]
  for (const text of wrong) {
    const problem = (parse: (text: string) => unknown) => {
      try {
        return parse(text)
      } catch (error) {
        return String(error)
      }
    }
    assert.equal(problem(parseExact), problem(JSON.parse), text)
  }
  for (const text of ['', 'x', '+1e400', '1e400 ', '0x20000000000001', 'Infinity', '9007199254740993n', '١e400'])
    assert.equal(isNumberAsText(text), false, text)
})

/** A number as a writer of JSON may write it; most are longer than JavaScript keeps. */
const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`))
const number = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(digits(25), fc.constantFrom('9007199254740992', '9223372036854775808'), digits(330)),
    fraction: fc.option(digits(25), { nil: '' }),
    power: fc.option(
      fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-', 'E-'), digits(4)).map(([mark, power]) => mark + power),
      { nil: '' },
    ),
    zeros: fc.nat(20),
  })
  .map(({ sign, whole, fraction, power, zeros }) => {
    const trimmed = whole.replace(/^0+(?=.)/, '')
    const first = trimmed === '0' ? trimmed : trimmed + '0'.repeat(zeros)
    return `${sign}${first}${fraction === '' ? '' : `.${fraction}`}${power}`
  })

/** The value of a number as a fraction of whole numbers, exactly; its last digit counts `power` tens. */
function exactly(written: string): { readonly mantissa: bigint; readonly power: number } {
  const [, sign, whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written) ?? []
  return { mantissa: BigInt(whole + fraction) * (sign === '-' ? -1n : 1n), power: Number(power) - fraction.length }
}

/** Whether the numbers are the same, or, of a fraction, as near as a double is. */
function isSame(one: string, other: string, isWhole: boolean): boolean {
  const [a, b] = [exactly(one), exactly(other)]
  const least = Math.min(a.power, b.power)
  if (Math.max(a.power, b.power) - least > 2000) return a.mantissa === 0n && b.mantissa === 0n
  const [x, y] = [a, b].map(({ mantissa, power }) => mantissa * 10n ** BigInt(power - least)) as [bigint, bigint]
  const apart = x > y ? x - y : y - x
  const size = x < 0n ? -x : x
  // The doubles next to zero keep fewer digits.
  const isTiny = size > 0n && size * 10n ** 10n < 10n ** BigInt(Math.max(0, -least - 297))
  return isWhole ? apart === 0n : isTiny || apart * 2n ** 52n <= size
}

test('no number comes out of JSON with another value than it went in', async (context) => {
  await holds(
    context,
    fc.property(fc.array(number, { maxLength: 5 }), fc.array(fc.string(), { maxLength: 3 }), (numbers, strings) => {
      const text = `{"s":${JSON.stringify(strings)},"n":[${numbers.join(', ')}],"t":${JSON.stringify(numbers)}}`
      const read = parseExact(text) as { readonly s: unknown; readonly n: readonly unknown[]; readonly t: unknown }
      assert.deepEqual([read.s, read.t], [strings, numbers])
      for (const [index, value] of read.n.entries()) {
        const written = numbers[index] ?? ''
        if (typeof value === 'string') assert.equal(value, written)
        else
          assert.ok(isSame(written, JSON.stringify(value), /^-?\d+$/.test(written)), `${written} is ${String(value)}`)
      }
      // What is written again is read as the same once more.
      assert.deepEqual(JSON.parse(JSON.stringify(read)), parseExact(JSON.stringify(read)))
    }),
    3000,
  )
})
