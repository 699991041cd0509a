/** Node, the configuration, and the disk under the store. */
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '@witan/server'
import { bad, type DoctorFinding, good, warning } from './finding.ts'

const NEEDED_NODE = 24
const LITTLE_BYTES = 1e9
const TOO_LITTLE_BYTES = 50e6

/** Whether this Node is new enough. */
export function lookAtNode(version: string): DoctorFinding {
  if (Number(version.split('.')[0]) >= NEEDED_NODE) return good('node', version)
  return bad('node', `${version} is too old.`, `Install Node ${NEEDED_NODE} or newer from https://nodejs.org.`)
}

/** Which file was found. */
export function lookAtConfiguration(config: Config): DoctorFinding {
  if (config.file !== null) return good('configuration', config.file)
  const text = `No witan.config.ts or .json from ${config.folder} upwards; the defaults hold.`
  return warning('configuration', text, 'Write one, or name it with --config FILE.')
}

/** How much space is left where the store is, or will be. */
export async function lookAtDisk(file: string): Promise<DoctorFinding> {
  const stats = await nearestStats(file)
  if (stats === null) return warning('disk', 'The free space is unknown.', 'Check it with another tool.')
  const free = Number(stats.bavail) * Number(stats.bsize)
  const text = `${size(free)} free`
  if (free < TOO_LITTLE_BYTES) return bad('disk', `Only ${text}.`, 'Make space, or move the store with store.url.')
  if (free < LITTLE_BYTES) return warning('disk', `Only ${text}.`, 'Make space before long.')
  return good('disk', text)
}

/** The file system of the path, or of the first folder above it that exists. */
async function nearestStats(file: string) {
  for (let path = file; ; path = dirname(path)) {
    const stats = await statfs(path).catch(() => null)
    if (stats !== null || dirname(path) === path) return stats
  }
}

/** Bytes in words. */
export function size(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const index = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1000 ** index
  return `${index === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[index]}`
}
