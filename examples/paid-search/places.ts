/** Where the servers of this example are: names that only they know, and ports of this machine. */

const [office = 4811, archive = 4812, till = 4813] = (process.env['PAID_SEARCH_PORTS'] ?? '').split(',').flatMap(portOf)

/** The port of each server. `PAID_SEARCH_PORTS=5811,5812,5813` names others. */
export const ports = { office, archive, till }

/** The page on which a person pays. A shop in public has one with HTTPS on its own domain, and names it as `url` of the demand. */
export const tillUrl = `http://127.0.0.1:${till}`

export const resolve = { 'office.test': `http://127.0.0.1:${office}`, 'archive.test': `http://127.0.0.1:${archive}` }

/** The store of a server; `PAID_SEARCH_FOLDER` names another folder than `.witan`. */
export function storeOf(name: string): { readonly url: string } {
  return { url: `file:${process.env['PAID_SEARCH_FOLDER'] ?? './.witan'}/${name}.db` }
}

function portOf(word: string): number[] {
  return /^\d+$/.test(word) ? [Number(word)] : []
}
