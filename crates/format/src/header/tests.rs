use proptest::prelude::*;

use super::*;
use crate::error::Kind;
use crate::testing::flips;

fn parse(bytes: &[u8]) -> Result<Header> {
    Header::parse(bytes)
}

fn slot(generation: u64) -> Slot {
    let root_at = SLOT_PAGES_END;
    Slot { generation, root_at, root_len: 160, end: root_at + 224, root_checksum: 7, not_synced: false }
}

fn early(generation: u64) -> Slot {
    Slot { root_at: 256, end: 480, ..slot(generation) }
}

#[test]
fn layout() {
    let bytes = Header::whole(early(1), HEADER_LEN as u64).emit();
    assert_eq!(bytes[..12], *b"\x89ENT\r\n\x1a\n\0\0\x03\0");
    assert_eq!(
        bytes[64..104],
        [
            [1, 0, 0, 0, 0, 0, 0, 0],
            [0, 1, 0, 0, 0, 0, 0, 0],
            [160, 0, 0, 0, 0, 0, 0, 0],
            [224, 1, 0, 0, 0, 0, 0, 0],
            [7, 0, 0, 0, 0, 0, 0, 0]
        ]
        .concat()
    );
    assert_eq!(bytes[128..], [0; 128]);
    assert_eq!((bytes[16], Header::streamed().emit()[16]), (0, 3));
    assert_eq!(Header::whole(slot(1), SLOT_PAGES_END).emit()[16], 2);
}

#[test]
fn not_one_or_cut_off() {
    let bytes = Header::whole(early(1), HEADER_LEN as u64).emit();
    for len in 0..HEADER_LEN {
        assert_eq!(parse(&bytes[..len]).unwrap_err().kind(), Kind::Corrupt);
    }
    assert_eq!(parse(b"PAR1").unwrap_err().kind(), Kind::NotEntasis);
    assert_eq!(parse(&[0; 256]).unwrap_err().kind(), Kind::NotEntasis);
    assert!(parse(&[&bytes[..], b"more"].concat()).is_ok());
}

#[test]
fn versions_and_flags() {
    let header = Header::whole(slot(1), SLOT_PAGES_END);
    let kind = |header: Header| parse(&header.emit()).unwrap_err().kind();
    let of = |major, minor| Header { version: Version { major, minor }, ..header };
    assert_eq!(kind(of(0, 1)), Kind::Unsupported);
    // Whether the current state can be read depends on the features in its root.
    for header in [of(0, 2), of(0, 3), of(0, 4), of(1, 0), of(7, 3)] {
        assert_eq!(parse(&header.emit()).unwrap(), header);
    }
    assert_eq!(kind(Header { flags: 8, ..header }), Kind::Newer);
    // Sealed files have slot pages, and are not streamed.
    for flags in [4, 5, 7] {
        assert_eq!(kind(Header { flags, ..header }), Kind::Corrupt);
    }
    assert!(parse(&Header { may_ignore: u64::MAX, ..header }.emit()).is_ok());
}

#[test]
fn states_of_a_file() {
    use SlotState::{Damaged, Empty, Valid};
    let order = |first, flags, pages| Header { first, flags, ..Header::streamed() }.order(pages);
    let is = |found: Result<Order>, above: Option<u64>, slots: &[Slot]| {
        let trailer = above.map(|above| above + 1..=u64::MAX);
        assert_eq!(found.unwrap(), Order { trailer, slots: slots.to_vec() });
    };
    let (one, two, three) = (Valid(slot(1)), Valid(slot(2)), Valid(slot(3)));
    is(order(one, 2, [Empty, Empty]), None, &[slot(1)]);
    is(order(Empty, 3, [Empty, Empty]), Some(0), &[]);
    is(order(one, 2, [two, Empty]), None, &[slot(2), slot(1)]);
    is(order(one, 2, [Empty, two]), None, &[slot(2), slot(1)]);
    is(order(one, 2, [two, three]), None, &[slot(3), slot(2)]);
    is(order(one, 2, [three, two]), None, &[slot(3), slot(2)]);
    is(order(one, 2, [three, Damaged]), Some(3), &[slot(3)]);
    is(order(Empty, 3, [Damaged, two]), Some(2), &[slot(2)]);
    is(order(one, 2, [Damaged, Empty]), Some(0), &[]);
    is(order(one, 2, [Damaged, Damaged]), Some(0), &[]);
    is(order(Damaged, 2, [two, Empty]), None, &[slot(2)]);
    // Of a sealed file only the trailer of the next generation counts.
    is(order(one, 6, [three, Damaged]), Some(3), &[slot(3)]);
    for pages in [[Damaged, Empty], [Empty, Damaged]] {
        assert_eq!(order(one, 6, pages).unwrap(), Order { trailer: Some(2..=2), slots: vec![] });
        assert_eq!(order(Empty, 6, pages).unwrap(), Order { trailer: Some(1..=1), slots: vec![] });
    }
    assert_eq!(order(one, 6, [Damaged, Damaged]).unwrap_err().kind(), Kind::Corrupt);
    for bad in [order(one, 2, [two, two]), order(Empty, 2, [Empty, Empty]), order(Damaged, 3, [Empty, Empty])]
    {
        assert_eq!(bad.unwrap_err().kind(), Kind::Corrupt);
    }
}

#[test]
fn slots_are_checked() {
    let first = |slot| parse(&Header::whole(slot, HEADER_LEN as u64).emit()).map(|header| header.first);
    assert_eq!(first(early(1)).unwrap(), SlotState::Valid(early(1)));
    for broken in [
        Slot { generation: 0, ..early(1) },
        Slot { root_at: 255, ..early(1) },
        Slot { root_at: 257, ..early(1) },
        Slot { root_at: u64::MAX, ..early(1) },
        Slot { root_len: 161, ..early(1) },
        Slot { root_len: 112, ..early(1) },
        Slot { root_len: 160 + 48 * 83, end: 1 << 40, ..early(1) },
        Slot { end: 479, ..early(1) },
        Slot { end: 481, ..early(1) },
        Slot { root_at: 256, end: 544, ..early(1) },
        Slot { end: 0, ..early(1) },
    ] {
        assert_eq!(first(broken).unwrap_err().kind(), Kind::Corrupt);
    }
    // Within the slot pages.
    assert!(parse(&Header::whole(early(1), SLOT_PAGES_END).emit()).is_err());
}

#[test]
fn slot_pages() {
    let [at_a, at_b] = SLOT_OFFSETS.map(|at| usize::try_from(at).unwrap());
    let mut head = vec![0; 12_288];
    assert_eq!(SlotState::pages(&head).unwrap(), [SlotState::Empty; 2]);
    head[at_a..][..64].copy_from_slice(&slot(2).emit());
    head[at_b] = 1;
    assert_eq!(SlotState::pages(&head).unwrap(), [SlotState::Valid(slot(2)), SlotState::Damaged]);
    head[at_b..][..64].copy_from_slice(&early(2).emit());
    assert_eq!(SlotState::pages(&head).unwrap_err().kind(), Kind::Corrupt);
    assert_eq!(SlotState::pages(&head[..at_b + 63]).unwrap_err().kind(), Kind::Corrupt);
}

#[test]
fn every_flipped_bit_is_seen() {
    for header in [
        Header::whole(early(1), HEADER_LEN as u64),
        Header::whole(slot(1), SLOT_PAGES_END),
        Header::streamed(),
    ] {
        for bytes in flips(&header.emit()) {
            // A damaged slot does not match its checksum.
            let order = parse(&bytes).and_then(|header| header.order([SlotState::Empty; 2]));
            assert!(order.is_err());
        }
    }
}

proptest! {
    #[test]
    fn round_trip(generation in 1u64.., root_at in SLOT_PAGES_END..1 << 50, sections in 0u32..=82,
                  root_checksum: u64, may_ignore: u64, flags in 0u64..4, not_synced: bool) {
        let root_len = 160 + 48 * sections;
        let end = root_at + u64::from(root_len) + 64;
        let slot = Slot { generation, root_at, root_len, end, root_checksum, not_synced };
        let header = Header { may_ignore, flags, first: SlotState::Valid(slot), ..Header::streamed() };
        prop_assert_eq!(parse(&header.emit()).unwrap(), header);
    }

    #[test]
    fn any_bytes(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
        bytes.splice(..MAGIC.len().min(bytes.len()), MAGIC);
        let _ = parse(&bytes);
    }
}
