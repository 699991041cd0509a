/** Which addresses of the Internet Protocol lead to the public Internet, in every form that they are written in. */
import ipaddr from 'ipaddr.js'

const globalIpv6 = ipaddr.IPv6.parse('2000::')
/** An IPv4 address in the last four bytes, as a translator of the network writes it. */
const translated = ipaddr.IPv6.parse('64:ff9b::')

/** What kind of address it is if it is not public, such as `private` or `loopback`; null for a public one. */
export function notPublic(address: string): string | null {
  if (!ipaddr.isValid(address)) return 'no address'
  const read = ipaddr.process(address)
  const range = read.range()
  if (read instanceof ipaddr.IPv4) return range === 'unicast' ? null : wordOf(range)
  if (read.zoneId !== undefined && read.zoneId !== null) return 'local to a network'
  if (read.match(translated, 96)) return notPublic(read.toByteArray().slice(12).join('.'))
  if (range !== 'unicast') return wordOf(range)
  return read.match(globalIpv6, 3) ? null : 'reserved'
}

/** `uniqueLocal` as `unique local`. */
function wordOf(range: string): string {
  return range.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
