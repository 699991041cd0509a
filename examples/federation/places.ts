/** Where the servers of this example are: names that only they know, and ports of this machine. */

const [office = 4801, travel = 4802, hotel = 4803] = (process.env['FEDERATION_PORTS'] ?? '').split(',').flatMap(portOf)

/** The port of each server. `FEDERATION_PORTS=5001,5002,5003` names others. */
export const ports = { office, travel, hotel }

/** For each host of an address or a card, where it is in truth. A server in public has no such list. */
export const resolve = {
  'office.test': `http://127.0.0.1:${office}`,
  'travel.test': `http://127.0.0.1:${travel}`,
  'hotel.travel.test': `http://127.0.0.1:${hotel}`,
}

/** Where the card of the hotel's agent is. */
export const hotelCard = 'https://hotel.travel.test/.well-known/agent-card.json'

/** The store of a server; `FEDERATION_FOLDER` names another folder than `.witan`. */
export function storeOf(name: string): { readonly url: string } {
  return { url: `file:${process.env['FEDERATION_FOLDER'] ?? './.witan'}/${name}.db` }
}

function portOf(word: string): number[] {
  return /^\d+$/.test(word) ? [Number(word)] : []
}
