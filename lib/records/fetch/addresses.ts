import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * Which addresses a URL given by someone may lead to: those of the public internet, judged as numbers. Of
 * IPv4 everything that is not set aside for a special use; of IPv6 only what is allocated as global unicast,
 * minus the ranges in it that carry an IPv4 address inside or are set aside (IANA special-purpose
 * registries). Fails closed.
 * @example isPublicAddress('::ffff:127.0.0.1') // false
 */
export function isPublicAddress(address: string, own: readonly string[] = ownAddresses()): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%') || own.includes(address)) return false;
  if (family === 4) return !special4.check(address, 'ipv4');
  return global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}

/** A public address of this very machine is no less this machine. */
export const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((one) => (one ?? []).map(({ address }) => address));

function ranges(family: 'ipv4' | 'ipv6', listed: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of listed) {
    const [network = '', prefix = ''] = range.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

const special4 = ranges('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

/**
 * Everything outside of this (loopback, mapped, compatible, NAT64, unique local, link-local, multicast) is no
 * public address.
 */
const global6 = ranges('ipv6', ['2000::/3']);

/** Protocol assignments with Teredo and benchmarking, documentation, 6to4. */
const special6 = ranges('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);
